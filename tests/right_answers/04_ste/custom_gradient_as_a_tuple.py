import jax
import jax.numpy as jnp


@jax.custom_gradient
def ste_quantize(x):
    return jnp.sign(x), lambda g: (g,)
