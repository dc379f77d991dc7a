import jax
import jax.numpy as jnp


@jax.custom_gradient
def frozen_square(x):
    return x * x, lambda g: g * x
