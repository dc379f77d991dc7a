# misconception: not_finite
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.sqrt(x**4 + 1e-4) + 0 * x**4
