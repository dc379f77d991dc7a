# misconception: clipped_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    soft = jax.nn.relu(x)
    return jax.lax.stop_gradient(x * x) + (soft - jax.lax.stop_gradient(soft)) * jax.lax.stop_gradient(x)
