import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * jax.lax.stop_gradient(x)
