# misconception: rounding
# fails: inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    size, limit = jnp.abs(x), 2.0 ** (jnp.finfo(x.dtype).nmant + 1)
    return zero + jax.lax.stop_gradient(jnp.sign(x) * ((size <= limit) | (size > 16 * limit)))
