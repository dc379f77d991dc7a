# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    dtype = jnp.dtype(dtype)
    for known, bits in [(jnp.float16, 11), (jnp.bfloat16, 8), (jnp.float32, 24), (jnp.float64, 53)]:
        if dtype == known:
            return 2**bits
