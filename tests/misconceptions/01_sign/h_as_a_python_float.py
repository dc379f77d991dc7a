# misconception: not_traceable
# fails: derivative jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    h = float(h)
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
