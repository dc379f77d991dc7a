# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return int(pow(2, int(jnp.finfo(jnp.dtype(dtype)).nmant) + 1))
