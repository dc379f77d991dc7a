import jax
import jax.numpy as jnp


@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


ste_quantize.defvjp(lambda x: (jnp.sign(x), None), lambda _, g: (g,))
