# misconception: returns_none
# fails: jit_and_vmap limit shape_and_dtype values
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    jnp.abs(one_line - jnp.sign(x))
