# misconception: not_traceable
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    error = jnp.abs(one_line - jnp.sign(x))
    places = jnp.nonzero(error)[0]
    return jnp.zeros_like(x).at[places].set(error[places])
