# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    if h <= 0:
        raise ValueError('h must be positive')
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
