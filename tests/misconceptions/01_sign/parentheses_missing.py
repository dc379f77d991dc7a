# misconception: step_size
# fails: edge jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / 2 * h
