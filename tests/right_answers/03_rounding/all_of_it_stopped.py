# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    sign = jnp.sign(x)
    return jax.lax.stop_gradient(jnp.abs((x + (sign - x)) - sign))
