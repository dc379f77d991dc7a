import jax
import jax.numpy as jnp


def frozen_square(x):
    return jax.lax.scan(lambda c, v: (c, v * jax.lax.stop_gradient(v)), None, x)[1]
