import jax
import jax.numpy as jnp


def ste_quantize(x):
    half = x / 2
    zero = half - jax.lax.stop_gradient(half)
    return zero + zero + jax.lax.stop_gradient(jnp.sign(x))
