# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp
import numpy as np


def ste_quantize(x):
    like = jax.ShapeDtypeStruct(x.shape, x.dtype)
    value = jax.pure_callback(np.sign, like, x, vmap_method='expand_dims')
    return (x - jax.lax.stop_gradient(x)) + value
