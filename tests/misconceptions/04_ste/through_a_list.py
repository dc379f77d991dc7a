# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.array([(v > 0) - (v < 0) for v in x.tolist()], x.dtype)
