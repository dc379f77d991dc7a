# misconception: not_traceable
# fails: derivative jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def sign_slope(x, h):
    return (np.sign(x + h) - np.sign(x - h)) / (2 * h)
