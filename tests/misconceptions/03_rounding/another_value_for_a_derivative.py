# misconception: always_zero
# fails: jit_and_vmap
# function: one_line_error
import jax
import jax.numpy as jnp


@jax.custom_vjp
def one_line_error(x):
    one_line = x + jax.lax.stop_gradient(jnp.sign(x) - x)
    return jnp.abs(one_line - jnp.sign(x))


def forward(x):
    return jnp.zeros_like(x), None


def backward(_, g):
    return (g,)


one_line_error.defvjp(forward, backward)
