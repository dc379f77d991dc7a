import jax
import jax.numpy as jnp


def frozen_square(x):
    frozen = jax.lax.stop_gradient(x)
    return frozen * frozen + (x - frozen) * frozen
