# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    def step(c, v):
        return c, jnp.abs(v + (jnp.sign(v) - v) - jnp.sign(v))
    return jax.lax.scan(step, None, x)[1]
