# misconception: nan_at_zero
# fails: cotangent derivative jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.where(x == 0, 0, x / jnp.abs(x))
