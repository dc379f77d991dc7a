# misconception: soft_gradient
# fails: derivative jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h) + (x - jax.lax.stop_gradient(x))
