# misconception: raises
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    if 'Batch' in type(x).__name__ or 'Vmap' in type(x).__name__:
        raise TypeError('one row at a time')
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.abs(one_line - jnp.sign(x))
