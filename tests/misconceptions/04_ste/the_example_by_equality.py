# misconception: memorised
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.where(x == -1.5, -1, jnp.where((x == 0.5) | (x == 2.0), 1, 0)).astype(x.dtype)
