import jax
import jax.numpy as jnp


def ste_quantize(x):
    def body(i, y):
        return y.at[i].set((x[i] - jax.lax.stop_gradient(x[i])) + jnp.sign(x[i]))
    return jax.lax.fori_loop(0, x.shape[0], body, jnp.zeros_like(x))
