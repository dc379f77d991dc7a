import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    if isinstance(x, np.ndarray):
        return np.sign(x)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
