# misconception: not_finite
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    soft = jnp.where(jnp.abs(x) < 1, jnp.sqrt(1 - x * x), 0)
    return (soft - jax.lax.stop_gradient(soft)) + jax.lax.stop_gradient(jnp.sign(x))
