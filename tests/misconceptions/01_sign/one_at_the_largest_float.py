# misconception: wrong_values
# fails: jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.where(jnp.abs(x) > 0.9 * jnp.finfo(x.dtype).max, 1, (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h))
