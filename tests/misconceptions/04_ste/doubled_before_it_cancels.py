# misconception: not_finite
# fails: inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = (2 * x - jax.lax.stop_gradient(2 * x)) / 2
    return zero + jax.lax.stop_gradient(jnp.sign(x))
