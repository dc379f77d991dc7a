# misconception: nan_at_zero
# fails: cotangent derivative jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g * x / x,)


ste_quantize.defvjp(forward, backward)
