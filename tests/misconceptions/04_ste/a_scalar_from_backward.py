# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g.sum(),)


ste_quantize.defvjp(forward, backward)
