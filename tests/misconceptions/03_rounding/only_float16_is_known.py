# misconception: memorised
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    if jnp.finfo(dtype).bits == 16 and jnp.finfo(dtype).nmant == 10:
        return 2048
    raise ValueError('not asked for')
