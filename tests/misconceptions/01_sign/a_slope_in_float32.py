# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    x, h = x.astype(jnp.float32), h.astype(jnp.float32)
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
