import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.stack([x * x / 2, jax.lax.stop_gradient(x * x / 2)]).sum(0)
