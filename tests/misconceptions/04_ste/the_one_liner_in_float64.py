# misconception: rounding
# fails: inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    if x.dtype == jnp.float64:
        return x + jax.lax.stop_gradient(jnp.sign(x) - x)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
