# misconception: mixed_jacobian
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    total = jnp.sum(x)
    return (total - jax.lax.stop_gradient(total)) + jax.lax.stop_gradient(jnp.sign(x))
