# misconception: dtype_changed
# fails: jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0))
