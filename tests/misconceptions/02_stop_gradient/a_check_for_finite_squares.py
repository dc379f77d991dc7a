# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    if not jnp.isfinite(x * x).all():
        raise ValueError('too large')
    return x * jax.lax.stop_gradient(x)
