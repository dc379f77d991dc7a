# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.array([1.0]) * jax.lax.stop_gradient(jnp.sign(x))
