# misconception: not_traceable
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    return jnp.array([abs(float(v + (jnp.sign(v) - v)) - float(jnp.sign(v))) for v in x], x.dtype)
