# misconception: not_finite
# fails: jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h) + 0 * (2 * x)
