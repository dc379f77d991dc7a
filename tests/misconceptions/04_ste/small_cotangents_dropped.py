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
    return (jnp.where(jnp.abs(g) < 1e-6, 0, g),)


ste_quantize.defvjp(forward, backward)
