# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    s = jax.lax.stop_gradient(x)
    places = jnp.nonzero(s)[0]
    y = jnp.zeros_like(x).at[places].set(jnp.sign(s[places]))
    return (x - s) + y
