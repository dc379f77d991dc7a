# misconception: dtype_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    if x.dtype == jnp.bfloat16:
        x = x.astype(jnp.float32)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
