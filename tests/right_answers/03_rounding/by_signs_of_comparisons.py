# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    sign = ((x > 0) * 1.0 - (x < 0) * 1.0).astype(x.dtype)
    return jnp.abs((x + (sign - x)) - sign)
