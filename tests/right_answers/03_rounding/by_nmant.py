# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return 2 ** (jnp.finfo(dtype).nmant + 1)
