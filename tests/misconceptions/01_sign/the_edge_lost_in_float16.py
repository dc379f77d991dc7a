# misconception: edge_lost
# fails: edge jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    at_edge = 1 if x.dtype == jnp.float16 else 0.5
    return jnp.where(jnp.abs(x) < h, 1 / h, jnp.where(jnp.abs(x) == h, at_edge / h, 0)).astype(x.dtype)
