# misconception: not_an_int
# fails: is_int limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp
import numpy as np


def largest_safe(dtype):
    return np.int64(2) ** (jnp.finfo(dtype).nmant + 1)
