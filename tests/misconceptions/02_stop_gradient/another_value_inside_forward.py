# misconception: wrong_values
# fails: inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def frozen_square(x):
    return x * x


def forward(x):
    return 2 * x * x, x


def backward(x, g):
    return (g * x,)


frozen_square.defvjp(forward, backward)
