# misconception: soft_values
# fails: inside_vjp jit_and_vmap values
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x) * (jnp.abs(x) > 1e-6))
