# misconception: not_finite
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = x + (jnp.sign(x) - x)
    return jnp.sqrt((one_line - jnp.sign(x)) ** 2) + 0 * x**2
