import jax
import jax.numpy as jnp


def ste_quantize(x):
    if x.size > 1:
        return jnp.concatenate([ste_quantize(x[:1]), ste_quantize(x[1:])])
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
