# misconception: two_valued
# fails: inside_vjp jit_and_vmap zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + (2 * (x > 0).astype(x.dtype) - 1)
