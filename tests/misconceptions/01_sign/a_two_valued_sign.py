# misconception: edge_lost
# fails: edge jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    def sign(v):
        return jnp.where(v >= 0, 1, -1).astype(x.dtype)
    return (sign(x + h) - sign(x - h)) / (2 * h)
