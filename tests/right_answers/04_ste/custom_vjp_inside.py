import jax
import jax.numpy as jnp


def ste_quantize(x):
    @jax.custom_vjp
    def through(v):
        return jnp.sign(v)

    through.defvjp(lambda v: (jnp.sign(v), None), lambda _, g: (g,))
    return through(x)
