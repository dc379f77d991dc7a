import jax
import jax.numpy as jnp


def ste_quantize(x):
    return x - jax.lax.stop_gradient(x) + jnp.sign(x)
