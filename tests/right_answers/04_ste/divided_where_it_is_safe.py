import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    size = jnp.abs(jax.lax.stop_gradient(x))
    return zero + jax.lax.stop_gradient(x) / jnp.where(size == 0, 1, size)
