# misconception: wrong_values
# fails: edge jit_and_vmap zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.where(x == 0, 0, (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h))
