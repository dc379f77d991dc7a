# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def ste_quantize(x):
    return jnp.asarray(np.sign(np.asarray(x)))


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g,)


ste_quantize.defvjp(forward, backward)
