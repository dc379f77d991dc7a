import jax
import jax.numpy as jnp


def frozen_square(x):
    half = x * x / 2
    return half + jax.lax.stop_gradient(half)
