# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + np.sign(np.asarray(x))
