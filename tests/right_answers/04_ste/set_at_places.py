import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    level = jnp.zeros_like(x).at[:].set(jnp.where(x > 0, 1, 0)).at[:].add(jnp.where(x < 0, -1, 0))
    return zero + level
