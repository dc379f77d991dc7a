# misconception: ignored_cotangent
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


def forward(x):
    return jnp.sign(x), x


def backward(x, g):
    return (g * (1 + 0.1 * jnp.sign(g) * jnp.tanh(x - jnp.sign(x))),)


ste_quantize.defvjp(forward, backward)
