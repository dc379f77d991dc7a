# misconception: nan_at_zero
# fails: cotangent derivative inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.exp(2 * jnp.log(jnp.abs(x))) / x * jax.lax.stop_gradient(x)
