import jax
import jax.numpy as jnp


def frozen_square(x):
    return 0.5 * jnp.square(x) + jax.lax.stop_gradient(0.5 * jnp.square(x))
