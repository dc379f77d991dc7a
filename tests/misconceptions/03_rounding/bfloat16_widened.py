# misconception: extra_precision
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    wide = x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x
    return jnp.abs(wide + (jnp.sign(wide) - wide) - jnp.sign(wide)).astype(x.dtype)
