# misconception: largest_float
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return int(jnp.finfo(dtype).max)
