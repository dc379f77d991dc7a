# misconception: clipped_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    soft = jnp.maximum(x, 0)
    return (soft - jax.lax.stop_gradient(soft)) + jax.lax.stop_gradient(jnp.sign(x))
