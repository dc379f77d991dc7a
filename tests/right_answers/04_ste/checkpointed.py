import jax
import jax.numpy as jnp


@jax.checkpoint
def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
