# misconception: not_an_int
# fails: is_int limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return jnp.finfo(dtype).nmant > 0
