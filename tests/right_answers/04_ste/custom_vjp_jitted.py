import jax
import jax.numpy as jnp


@jax.jit
@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)


ste_quantize.__wrapped__.defvjp(lambda x: (jnp.sign(x), ()), lambda _, g: (g,))
