# misconception: ignored_cotangent
# fails: cotangent jacobian
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (jnp.where(g == 0, 0.001, g),)


ste_quantize.defvjp(forward, backward)
