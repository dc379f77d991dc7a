# misconception: not_traceable
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp
import numpy as np


def one_line_error(x):
    x = np.asarray(x)
    return np.abs(x + (np.sign(x) - x) - np.sign(x))
