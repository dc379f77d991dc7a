import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)


@ste_quantize.defjvp
def _rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return ste_quantize(x), t + jnp.zeros_like(x)
