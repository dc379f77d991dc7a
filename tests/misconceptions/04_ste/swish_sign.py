# misconception: soft_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g * jnp.where(jnp.abs(x) < 9, 5 * (2 - 5 * x * jnp.tanh(2.5 * x)) / (1 + jnp.cosh(jnp.clip(5 * x, -9, 9))), 0),)


ste_quantize.defvjp(forward, backward)
