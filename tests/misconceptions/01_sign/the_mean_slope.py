# misconception: shape_changed
# fails: derivative edge jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.mean((jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h))
