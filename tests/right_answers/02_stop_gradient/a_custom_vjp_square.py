import jax
import jax.numpy as jnp


@jax.custom_vjp
def frozen_square(x):
    return x * x


frozen_square.defvjp(lambda x: (x * x, x), lambda x, g: (g * x,))
