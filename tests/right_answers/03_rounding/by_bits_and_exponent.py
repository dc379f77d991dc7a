# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    info = jnp.finfo(dtype)
    return 2 ** (info.bits - info.nexp)
