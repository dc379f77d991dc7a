# misconception: dtype_like
# fails: spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    table = {jnp.dtype('float16'): 11, jnp.dtype('bfloat16'): 8, jnp.dtype('float32'): 24, jnp.dtype('float64'): 53}
    return 2 ** table[dtype]
