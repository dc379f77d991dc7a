# misconception: zero_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return 0 * x + jax.lax.stop_gradient(jnp.sign(x))
