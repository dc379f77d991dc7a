# misconception: wrong_values
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return jnp.finfo(dtype).nmant + 1
