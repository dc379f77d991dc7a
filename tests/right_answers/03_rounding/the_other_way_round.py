# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    sign = jnp.sign(x)
    return abs(sign - (x + (sign - x)))
