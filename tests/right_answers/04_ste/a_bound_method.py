import jax
import jax.numpy as jnp


class Quantizer:
    def quantize(self, x):
        return (x - jax.lax.stop_gradient(x)) + jnp.sign(x)


ste_quantize = Quantizer().quantize
