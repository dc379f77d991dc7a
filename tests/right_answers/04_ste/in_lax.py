import jax
import jax.numpy as jnp
from jax import lax


def ste_quantize(x):
    frozen = lax.stop_gradient(x)
    return lax.add(lax.sub(x, frozen), lax.sign(frozen))
