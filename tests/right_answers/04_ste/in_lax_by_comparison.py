import jax
import jax.numpy as jnp
from jax import lax


def ste_quantize(x):
    frozen = lax.stop_gradient(x)
    one, none = lax.full_like(x, 1), lax.full_like(x, 0)
    level = lax.select(frozen > 0, one, lax.select(frozen < 0, -one, none))
    return lax.add(lax.sub(x, frozen), level)
