# misconception: shape_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    y = zero + jax.lax.stop_gradient(jnp.sign(x))
    return y[0] if x.size == 1 else y
