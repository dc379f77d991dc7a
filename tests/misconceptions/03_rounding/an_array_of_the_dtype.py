# misconception: dtype_like
# fails: spellings
# function: largest_safe
import jax
import jax.numpy as jnp
import numpy as np


def largest_safe(dtype):
    return 2 ** (jnp.finfo(np.ones(1, dtype).dtype).nmant + 1) if not isinstance(dtype, str) else None
