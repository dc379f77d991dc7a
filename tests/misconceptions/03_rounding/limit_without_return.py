# misconception: returns_none
# fails: is_int limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    limit = 2 ** (jnp.finfo(dtype).nmant + 1)
