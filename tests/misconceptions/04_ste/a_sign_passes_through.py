# misconception: zero_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    sign = jnp.sign(x)
    return (sign - jax.lax.stop_gradient(sign)) + jax.lax.stop_gradient(sign)
