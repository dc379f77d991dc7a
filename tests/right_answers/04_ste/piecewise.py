import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    s = jax.lax.stop_gradient(x)
    return zero + jnp.piecewise(s, [s > 0, s < 0], [1, -1, 0])
