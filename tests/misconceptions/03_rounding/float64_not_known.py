# misconception: wrong_values
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return {10: 2048, 7: 256, 23: 2**24}.get(jnp.finfo(dtype).nmant, 0)
