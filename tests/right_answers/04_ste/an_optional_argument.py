import jax
import jax.numpy as jnp


def ste_quantize(x, scale=1):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(scale * jnp.sign(x))
