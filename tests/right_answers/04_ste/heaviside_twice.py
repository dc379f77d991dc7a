import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    s = jax.lax.stop_gradient(x)
    return zero + (jnp.heaviside(s, 0) - jnp.heaviside(-s, 0)).astype(x.dtype)
