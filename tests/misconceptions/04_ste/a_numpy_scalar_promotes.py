# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + np.float32(1.0) * jax.lax.stop_gradient(jnp.sign(x))
