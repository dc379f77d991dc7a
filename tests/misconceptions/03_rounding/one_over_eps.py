# misconception: off_by_a_bit
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return int(1 / jnp.finfo(dtype).eps)
