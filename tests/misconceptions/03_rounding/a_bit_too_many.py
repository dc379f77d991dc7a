# misconception: off_by_a_bit
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return 2 ** (jnp.finfo(dtype).nmant + 2)
