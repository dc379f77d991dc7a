import jax
import jax.numpy as jnp


def ste_quantize(x):
    assert x.ndim == 1, 'one-dimensional only'
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
