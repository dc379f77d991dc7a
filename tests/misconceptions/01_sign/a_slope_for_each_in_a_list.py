# misconception: raises
# fails: derivative edge jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return [(jnp.sign(v + h) - jnp.sign(v - h)) / (2 * h) for v in x]
