# misconception: true_derivative
# fails: cotangent derivative jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * x if x.dtype == jnp.float64 else x * jax.lax.stop_gradient(x)
