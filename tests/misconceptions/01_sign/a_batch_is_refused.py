# misconception: raises
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    if type(x).__name__ == 'BatchTracer' or 'Vmap' in type(x).__name__:
        raise TypeError('one row at a time')
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
