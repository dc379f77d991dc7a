# misconception: raises
# fails: limits spellings
# function: largest_safe
import jax
import jax.numpy as jnp


def largest_safe(dtype):
    return 2 ** {10: 11, 23: 24, 52: 53}[jnp.finfo(dtype).nmant]
