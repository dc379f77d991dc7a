# misconception: mixed_jacobian
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    top = jnp.max(x)
    return (top - jax.lax.stop_gradient(top)) + jax.lax.stop_gradient(jnp.sign(x))
