# misconception: scaled_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g * 1.01,)


ste_quantize.defvjp(forward, backward)
