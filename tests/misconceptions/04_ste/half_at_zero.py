# misconception: two_valued
# fails: inside_vjp jit_and_vmap zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.where(x == 0, 0.5, jnp.sign(x)).astype(x.dtype)
