# misconception: not_defined
# fails: none
import jax
import jax.numpy as jnp


def signslope(x, h):
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h)
