# misconception: not_finite
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.clip(x**3 / (x**2 + 1), -1, 1))
