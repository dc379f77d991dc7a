# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.where(x > 0, jnp.ones(x.shape), jnp.where(x < 0, -jnp.ones(x.shape), jnp.zeros(x.shape)))
