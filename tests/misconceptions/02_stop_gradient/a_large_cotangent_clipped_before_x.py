# misconception: ignored_cotangent
# fails: cotangent
import jax
import jax.numpy as jnp


@jax.custom_vjp
def frozen_square(x):
    return x * x


def forward(x):
    return x * x, x


def backward(x, g):
    return (jnp.clip(g, -1e6, 1e6).astype(g.dtype) * x,)


frozen_square.defvjp(forward, backward)
