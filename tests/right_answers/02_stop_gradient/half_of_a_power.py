import jax
import jax.numpy as jnp


def frozen_square(x):
    return x**2 / 2 + jax.lax.stop_gradient(x**2) / 2
