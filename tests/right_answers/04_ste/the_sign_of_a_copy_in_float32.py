import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.sign(jax.lax.stop_gradient(x)).astype(jnp.float32).astype(x.dtype)
