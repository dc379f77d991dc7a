# misconception: shape_changed
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype values
import jax
import jax.numpy as jnp


def frozen_square(x):
    x = x[:, None]
    return x * jax.lax.stop_gradient(x)
