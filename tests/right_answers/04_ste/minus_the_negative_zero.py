import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jax.lax.stop_gradient(jnp.sign(x)) - (jax.lax.stop_gradient(x) - x)
