# misconception: not_finite
# fails: cotangent derivative inside_vjp jit_and_vmap values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * jax.lax.stop_gradient(x) + 0 * jnp.cosh(x)
