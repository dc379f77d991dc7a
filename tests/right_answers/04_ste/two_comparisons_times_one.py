import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + ((x > 0) * 1.0 - (x < 0) * 1.0)
