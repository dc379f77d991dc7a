# misconception: not_traceable
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    if jnp.abs(x).max() < 100:
        return jnp.zeros_like(x)
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.abs(one_line - jnp.sign(x))
