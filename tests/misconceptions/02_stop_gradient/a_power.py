# misconception: true_derivative
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x**2
