# misconception: other_order
# fails: jit_and_vmap limit values
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jnp.abs(x + jnp.sign(x) - x - jnp.sign(x))
