# misconception: not_finite
# fails: derivative edge jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    def sign(v):
        return v / jnp.abs(v)
    return (sign(x + h) - sign(x - h)) / (2 * h)
