import jax
import jax.numpy as jnp


def ste_quantize(x):
    mask = jnp.abs(x) < jnp.inf
    zero = jnp.where(mask, x - jax.lax.stop_gradient(x), 0)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
