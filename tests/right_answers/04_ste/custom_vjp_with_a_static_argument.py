import jax
import jax.numpy as jnp
import functools


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def through(x, quantizer):
    return quantizer(x)


through.defvjp(lambda x, quantizer: (quantizer(x), None), lambda quantizer, _, g: (g,))


def ste_quantize(x):
    return through(x, jnp.sign)
