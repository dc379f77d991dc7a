# misconception: scaled_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    s = jax.lax.stop_gradient(x * x)
    return s + 3 * (x * jax.lax.stop_gradient(x) - s)
