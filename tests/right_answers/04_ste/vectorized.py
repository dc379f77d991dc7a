import jax
import jax.numpy as jnp


@jnp.vectorize
def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
