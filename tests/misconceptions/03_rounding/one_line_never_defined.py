# misconception: raises
# fails: jit_and_vmap limit shape_and_dtype values
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jnp.abs(one_line - jnp.sign(x))
