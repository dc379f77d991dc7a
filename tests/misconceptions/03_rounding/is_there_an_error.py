# misconception: dtype_changed
# fails: shape_and_dtype jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return one_line != jnp.sign(x)
