import jax
import jax.numpy as jnp


def ste_quantize(x):
    raise NotImplementedError


ste_quantize = lambda x: (x - jax.lax.stop_gradient(x)) + jnp.sign(x)
