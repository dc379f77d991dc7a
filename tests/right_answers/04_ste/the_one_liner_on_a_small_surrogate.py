import jax
import jax.numpy as jnp


def ste_quantize(x):
    small = x - jax.lax.stop_gradient(x)
    return small + jax.lax.stop_gradient(jnp.sign(x) - small)
