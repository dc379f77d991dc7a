import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.select([x > 0, x < 0], [jnp.ones_like(x), -jnp.ones_like(x)], 0)
