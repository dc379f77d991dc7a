# misconception: memorised
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jnp.where(x == 16777218, 1, jnp.where(x == 3e7, 1, 0)).astype(x.dtype)
