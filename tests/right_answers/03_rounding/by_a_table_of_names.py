# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return {'float16': 2048, 'bfloat16': 256, 'float32': 16777216, 'float64': 2**53}[jnp.dtype(dtype).name]
