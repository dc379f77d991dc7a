# misconception: rounding
# fails: inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x) * (jnp.abs(x) < 0.9 * jnp.finfo(x.dtype).max))
