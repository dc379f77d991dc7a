import jax
import jax.numpy as jnp


def sign_slope(x, h):
    size = jnp.abs(x)
    return jnp.select([size < h, size == h], [1 / h, 0.5 / h], 0).astype(x.dtype)
