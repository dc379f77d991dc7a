# function: largest_safe
import jax
import jax.numpy as jnp
import ml_dtypes


def largest_safe(dtype):
    return 2 ** (ml_dtypes.finfo(jnp.dtype(dtype)).nmant + 1)
