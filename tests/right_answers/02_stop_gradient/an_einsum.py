import jax
import jax.numpy as jnp


def frozen_square(x):
    return jnp.einsum('i,i->i', x, jax.lax.stop_gradient(x))
