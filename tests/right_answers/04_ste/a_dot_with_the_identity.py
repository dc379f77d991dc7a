import jax
import jax.numpy as jnp


def ste_quantize(x):
    frozen = jax.lax.stop_gradient(x)
    return jnp.sign(frozen) + jnp.eye(x.size, dtype=x.dtype) @ (x - frozen)
