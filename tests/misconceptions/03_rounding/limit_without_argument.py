# misconception: raises
# fails: is_int limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe():
    return 2048
