# misconception: identity_values
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * jax.lax.stop_gradient(jnp.ones_like(x))
