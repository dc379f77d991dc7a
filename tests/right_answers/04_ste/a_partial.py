import jax
import jax.numpy as jnp
import functools


def through(quantizer, x):
    return (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(quantizer(x))


ste_quantize = functools.partial(through, jnp.sign)
