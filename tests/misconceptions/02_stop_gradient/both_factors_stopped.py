# misconception: zero_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    x = jax.lax.stop_gradient(x)
    return x * x
