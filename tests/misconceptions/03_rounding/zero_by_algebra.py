# misconception: always_zero
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jnp.zeros_like(x)
