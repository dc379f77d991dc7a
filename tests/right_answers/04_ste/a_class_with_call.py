import jax
import jax.numpy as jnp


class Quantizer:
    def __init__(self, limit=float('inf')):
        self.limit = limit

    def __call__(self, x):
        zero = x - jax.lax.stop_gradient(x)
        return jnp.where(jnp.abs(x) <= self.limit, zero, 0) + jnp.sign(x)


ste_quantize = Quantizer()
