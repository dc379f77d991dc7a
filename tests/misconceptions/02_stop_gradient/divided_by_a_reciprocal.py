# misconception: nan_at_zero
# fails: cotangent derivative inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x / jax.lax.stop_gradient(1 / x) * x / x
