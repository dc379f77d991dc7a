# function: one_line_error
import jax
import jax.numpy as jnp
from jax import lax


def one_line_error(x):
    sign = lax.sign(x)
    return lax.abs(lax.sub(lax.add(x, lax.sub(sign, x)), sign))
