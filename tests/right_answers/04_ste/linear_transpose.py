import jax
import jax.numpy as jnp


def ste_quantize(x):
    value, derivative = jax.lax.stop_gradient(jnp.sign(x)), x
    return derivative - jax.lax.stop_gradient(derivative) + value
