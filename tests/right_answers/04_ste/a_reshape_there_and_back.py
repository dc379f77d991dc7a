import jax
import jax.numpy as jnp


def ste_quantize(x):
    y = x.reshape(-1, 1)
    y = (y - jax.lax.stop_gradient(y)) + jnp.sign(y)
    return y.reshape(x.shape)
