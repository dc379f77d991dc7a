# misconception: not_traceable
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp
import numpy as np


def _on_the_host(x):
    return np.abs(x + (np.sign(x) - x) - np.sign(x)).astype(x.dtype)


def one_line_error(x):
    # A callback has no derivative rule: jax.vjp cannot go through it.
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_on_the_host, shape, x, vmap_method="sequential")
