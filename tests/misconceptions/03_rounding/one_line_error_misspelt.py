# misconception: not_defined
# fails: none
# function: one_line_error
import jax
import jax.numpy as jnp


def oneline_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.abs(one_line - jnp.sign(x))
