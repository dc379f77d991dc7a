# misconception: ignored_cotangent
# fails: cotangent derivative jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g * jnp.minimum(1, 1 / (1e-6 + jnp.sqrt((g * g).sum()))).astype(g.dtype),)


ste_quantize.defvjp(forward, backward)
