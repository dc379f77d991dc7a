import jax
import jax.numpy as jnp


def sign_slope(x, h=0.25):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
