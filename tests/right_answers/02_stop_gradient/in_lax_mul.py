import jax
import jax.numpy as jnp
from jax import lax


def frozen_square(x):
    return lax.mul(x, lax.stop_gradient(x))
