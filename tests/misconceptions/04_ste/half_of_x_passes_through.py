# misconception: scaled_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    half = 0.5 * x
    return (half - jax.lax.stop_gradient(half)) + jax.lax.stop_gradient(jnp.sign(x))
