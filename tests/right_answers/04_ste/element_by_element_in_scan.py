import jax
import jax.numpy as jnp


def ste_quantize(x):
    def step(carry, v):
        return carry, (v - jax.lax.stop_gradient(v)) + jnp.sign(v)
    return jax.lax.scan(step, None, x)[1]
