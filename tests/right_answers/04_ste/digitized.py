import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + (jnp.searchsorted(jnp.zeros(1, x.dtype), x, side='right') + jnp.searchsorted(jnp.zeros(1, x.dtype), x, side='left') - 1).astype(x.dtype)
