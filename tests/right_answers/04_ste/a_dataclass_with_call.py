import jax
import jax.numpy as jnp
import dataclasses


@dataclasses.dataclass(frozen=True)
class Quantizer:
    levels: int = 3

    def __call__(self, x):
        return (x - jax.lax.stop_gradient(x)) + jnp.sign(x)


ste_quantize = Quantizer()
