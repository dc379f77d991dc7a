# misconception: mixed_jacobian
# fails: cotangent jacobian jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    mean = jnp.mean(x)
    return (mean - jax.lax.stop_gradient(mean)) + jax.lax.stop_gradient(jnp.sign(x))
