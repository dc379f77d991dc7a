# misconception: nan_at_zero
# fails: jit_and_vmap values
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.abs(one_line - jnp.sign(x)) * x / x
