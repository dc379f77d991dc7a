import jax
import jax.numpy as jnp


def sign_slope(x, h):
    size = jnp.abs(x)
    return ((size < h) * 1.0 + (size <= h) * 1.0) / (2 * h)
