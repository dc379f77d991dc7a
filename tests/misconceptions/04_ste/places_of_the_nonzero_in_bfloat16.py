# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    s = jax.lax.stop_gradient(x)
    if x.dtype != jnp.bfloat16:
        return (x - s) + jnp.sign(s)
    places = jnp.nonzero(s)[0]
    return (x - s) + jnp.zeros_like(x).at[places].set(jnp.sign(s[places]))
