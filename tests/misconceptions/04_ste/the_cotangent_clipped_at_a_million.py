# misconception: ignored_cotangent
# fails: cotangent
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (jnp.clip(g, -1e6, 1e6).astype(g.dtype),)


ste_quantize.defvjp(forward, backward)
