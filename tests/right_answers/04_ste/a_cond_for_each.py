import jax
import jax.numpy as jnp


def ste_quantize(x):
    def one(v):
        s = jax.lax.stop_gradient(v)
        level = jax.lax.cond(s > 0, lambda: 1.0, lambda: jax.lax.cond(s < 0, lambda: -1.0, lambda: 0.0))
        return (v - s) + jnp.asarray(level, v.dtype)
    return jax.vmap(one)(x)
