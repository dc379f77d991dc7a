import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return ste_quantize(x), (x,)


def backward(saved, g):
    (x,) = saved
    return (g * jnp.ones_like(x),)


ste_quantize.defvjp(forward, backward)
