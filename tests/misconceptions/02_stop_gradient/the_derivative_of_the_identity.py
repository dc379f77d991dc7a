# misconception: soft_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jax.lax.stop_gradient(x * x) + (x - jax.lax.stop_gradient(x))
