# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def frozen_square(x):
    return np.float32(1) * x * jax.lax.stop_gradient(x)
