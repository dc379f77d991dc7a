# misconception: wrong_values
# fails: inside_vjp jit_and_vmap values
import jax
import jax.numpy as jnp


def frozen_square(x):
    return x * jax.lax.stop_gradient(x) + 1e-2
