# misconception: returns_none
# fails: derivative edge jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    slope = (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
