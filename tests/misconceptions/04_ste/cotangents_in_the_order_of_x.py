# misconception: mixed_jacobian
# fails: cotangent jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g[jnp.argsort(x)],)


ste_quantize.defvjp(forward, backward)
