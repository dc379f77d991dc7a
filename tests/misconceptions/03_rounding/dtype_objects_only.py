# misconception: dtype_like
# fails: spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return 2 ** (jnp.finfo(dtype.name).nmant + 1)
