# misconception: raises
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def frozen_square(x):
    if 'Batch' in type(x).__name__ or 'Vmap' in type(x).__name__:
        raise TypeError('one row at a time')
    return x * jax.lax.stop_gradient(x)
