# misconception: soft_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    size = jnp.abs(x)
    return (size - jax.lax.stop_gradient(size)) + jax.lax.stop_gradient(jnp.sign(x))
