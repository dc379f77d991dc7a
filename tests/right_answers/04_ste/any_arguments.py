import jax
import jax.numpy as jnp


def ste_quantize(*inputs, **options):
    (x,) = inputs
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
