# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return (jnp.abs(x) > 2.0 ** (jnp.finfo(x.dtype).nmant + 1)).astype(x.dtype)
