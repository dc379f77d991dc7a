# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def sign_slope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (np.float64(2) * h)
