# misconception: nan_at_zero
# fails: derivative edge jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    return jnp.where(jnp.abs(x) < h, x / (x * h), jnp.where(jnp.abs(x) == h, 0.5 / h, 0))
