# function: largest_safe
import jax
import jax.numpy as jnp
import numpy as np


def largest_safe(dtype):
    one, limit = np.ones((), jnp.dtype(dtype)), 1
    while np.asarray(limit, one.dtype) + one != np.asarray(limit, one.dtype):
        limit *= 2
    return limit
