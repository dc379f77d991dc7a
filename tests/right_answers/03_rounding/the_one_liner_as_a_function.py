# function: one_line_error
import jax
import jax.numpy as jnp


def one_line_error(x):
    def ste(x):
        return x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.absolute(ste(x) - jnp.sign(x))
