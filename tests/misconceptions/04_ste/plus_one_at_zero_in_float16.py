# misconception: two_valued
# fails: inside_vjp jit_and_vmap zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    value = jnp.sign(x) + (x == 0) if x.dtype == jnp.float16 else jnp.sign(x)
    return zero + jax.lax.stop_gradient(value)
