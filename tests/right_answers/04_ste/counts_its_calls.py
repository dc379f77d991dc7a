import jax
import jax.numpy as jnp


calls = []


def ste_quantize(x):
    calls.append(1)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
