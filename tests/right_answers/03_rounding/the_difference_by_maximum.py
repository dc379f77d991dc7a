# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    error = (x + (jnp.sign(x) - x)) - jnp.sign(x)
    return jnp.maximum(error, -error)
