# misconception: dtype_changed
# fails: derivative edge jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return ((jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)).astype(int)
