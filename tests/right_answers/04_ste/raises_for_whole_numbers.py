import jax
import jax.numpy as jnp


def ste_quantize(x):
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError('floats only')
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
