# misconception: edge_lost
# fails: edge jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.where(jnp.abs(x) < h, 1 / h, 0).astype(x.dtype)
