# misconception: two_valued
# fails: inside_vjp jit_and_vmap zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.where(x >= 0, 1, -1).astype(x.dtype)
