# misconception: not_traceable
# fails: cotangent derivative inside_vjp jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    if x.dtype == jnp.float64:
        return jnp.asarray(np.sign(np.asarray(x)))
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
