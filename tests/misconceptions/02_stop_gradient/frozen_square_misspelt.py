# misconception: not_defined
# fails: none
import jax
import jax.numpy as jnp


def square_frozen(x):
    return x * jax.lax.stop_gradient(x)
