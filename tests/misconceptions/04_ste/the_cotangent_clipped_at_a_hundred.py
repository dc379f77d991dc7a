# misconception: ignored_cotangent
# fails: cotangent
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (jnp.clip(g, -100, 100),)


ste_quantize.defvjp(forward, backward)
