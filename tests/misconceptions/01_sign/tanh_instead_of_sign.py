# misconception: wrong_values
# fails: derivative edge jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return (jnp.tanh(x + h) - jnp.tanh(x - h)) / (2 * h)
