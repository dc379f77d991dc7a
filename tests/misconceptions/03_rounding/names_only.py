# misconception: dtype_like
# fails: is_int limits
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return {'float16': 2**11, 'bfloat16': 2**8, 'float32': 2**24, 'float64': 2**53}[str.lower(dtype)]
