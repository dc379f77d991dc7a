# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    one = np.vectorize(lambda v: 1 if v > 0 else -1 if v < 0 else 0)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.asarray(one(np.asarray(x)), x.dtype)
