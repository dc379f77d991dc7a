# misconception: wrong_values
# fails: cotangent derivative inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.where(jnp.abs(x) > 60, jnp.sign(x), x) * jax.lax.stop_gradient(x)
