# misconception: shape_changed
# fails: shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    x = jnp.pad(x, (0, -x.size % 4))
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
