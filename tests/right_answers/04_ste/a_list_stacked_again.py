import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.stack([(v - jax.lax.stop_gradient(v)) + jnp.sign(v) for v in x])
