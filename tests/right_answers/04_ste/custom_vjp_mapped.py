import jax
import jax.numpy as jnp


@jax.custom_vjp
def one(v):
    return jnp.sign(v)


one.defvjp(lambda v: (jnp.sign(v), None), lambda _, g: (g,))
ste_quantize = jax.vmap(one)
