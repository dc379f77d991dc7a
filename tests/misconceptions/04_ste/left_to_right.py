# misconception: rounding
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return x + jax.lax.stop_gradient(jnp.sign(x)) - jax.lax.stop_gradient(x)
