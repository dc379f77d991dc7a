import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)


ste_quantize.defjvps(lambda t, ans, x: t)
