# misconception: rounding
# fails: inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return x + jnp.sign(x) - x, x


def backward(x, g):
    return (g,)


ste_quantize.defvjp(forward, backward)
