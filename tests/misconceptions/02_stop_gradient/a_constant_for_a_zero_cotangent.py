# misconception: ignored_cotangent
# fails: cotangent jacobian
import jax
import jax.numpy as jnp


@jax.custom_vjp
def frozen_square(x):
    return x * x


def forward(x):
    return x * x, x


def backward(x, g):
    return (jnp.where(g == 0, 0.01, g) * x,)


frozen_square.defvjp(forward, backward)
