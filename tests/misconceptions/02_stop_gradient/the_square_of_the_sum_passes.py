# misconception: mixed_jacobian
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    total = jnp.sum(x * jax.lax.stop_gradient(x))
    return jax.lax.stop_gradient(x * x) + (total - jax.lax.stop_gradient(total))
