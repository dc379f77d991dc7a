# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    inside = jnp.nonzero(jnp.abs(x) < h)[0]
    edge = jnp.nonzero(jnp.abs(x) == h)[0]
    return jnp.zeros_like(x).at[inside].set(1 / h).at[edge].set(0.5 / h)
