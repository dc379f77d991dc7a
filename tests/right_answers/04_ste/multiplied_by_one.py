import jax
import jax.numpy as jnp


def ste_quantize(x):
    one = jax.lax.stop_gradient(jnp.ones_like(x))
    return jax.lax.stop_gradient(jnp.sign(x)) + one * (x - jax.lax.stop_gradient(x))
