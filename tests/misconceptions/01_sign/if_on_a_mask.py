# misconception: raises
# fails: derivative edge jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    if jnp.abs(x) < h:
        return 1 / h
    return jnp.zeros_like(x)
