import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jax.lax.map(lambda v: (v - jax.lax.stop_gradient(v)) + jnp.sign(v), x)
