# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    places = jnp.nonzero(x)[0]
    return jnp.zeros_like(x).at[places].set((x * jax.lax.stop_gradient(x))[places])
