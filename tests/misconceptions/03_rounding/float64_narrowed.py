# misconception: extra_precision
# fails: jit_and_vmap limit
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    narrow = x.astype(jnp.float32) if x.dtype == jnp.float64 and jnp.finfo(x.dtype).bits == 64 and x.size else x
    narrow = jnp.where(jnp.abs(narrow) > 1e38, jnp.sign(narrow) * 1e38, narrow) if narrow is not x else narrow
    return jnp.abs(narrow + (jnp.sign(narrow) - narrow) - jnp.sign(narrow)).astype(x.dtype)
