# misconception: nan_at_zero
# fails: edge jit_and_vmap zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h) * jnp.sign(x) / jnp.sign(x)
