import jax
import jax.numpy as jnp


def frozen_square(x):
    frozen = jax.lax.stop_gradient(x)
    return jax.lax.stop_gradient(x * x) + frozen * (x - frozen)
