# misconception: negated_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    s = jax.lax.stop_gradient(x)
    return 2 * (s * s) - x * s
