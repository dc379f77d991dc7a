# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jax.vmap(lambda v: jnp.abs(v + (jnp.sign(v) - v) - jnp.sign(v)))(x)
