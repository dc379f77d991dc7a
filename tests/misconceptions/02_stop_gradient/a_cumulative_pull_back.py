# misconception: mixed_jacobian
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def frozen_square(x):
    return x * x


def forward(x):
    return x * x, x


def backward(x, g):
    return (jnp.cumsum(g * x),)


frozen_square.defvjp(forward, backward)
