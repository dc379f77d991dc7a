# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * jnp.array([float(v) for v in x], x.dtype)
