import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.diag(jax.lax.stop_gradient(x)) @ x
