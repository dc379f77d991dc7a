import jax
import jax.numpy as jnp


@jax.jit
def frozen_square(x):
    return x * jax.lax.stop_gradient(x)
