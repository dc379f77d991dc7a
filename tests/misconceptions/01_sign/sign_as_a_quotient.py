# misconception: not_finite
# fails: edge jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    def sign(v):
        return v / jnp.abs(v)
    return jax.lax.stop_gradient((sign(x + h) - sign(x - h)) / (2 * h))
