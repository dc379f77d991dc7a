# misconception: not_finite
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = (2 * x + (2 * jnp.sign(x) - 2 * x)) / 2
    return jnp.abs(one_line - jnp.sign(x))
