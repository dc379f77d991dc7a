# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return int(2 / jnp.finfo(dtype).eps)
