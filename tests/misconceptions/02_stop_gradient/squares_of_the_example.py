# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.array([2.25, 0.0, 0.25, 4.0], x.dtype)
