# misconception: memorised
# fails: derivative edge jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.array([0.0, 2.0, 4.0, 4.0, 2.0, 0.0], x.dtype)
