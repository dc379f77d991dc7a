# misconception: wrong_values
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.where(jnp.abs(x) > 2.0**-4, x, 0) * jax.lax.stop_gradient(x)
