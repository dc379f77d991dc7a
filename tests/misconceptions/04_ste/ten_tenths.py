# misconception: rounding
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    tenth = jnp.sign(x) * 0.1
    return zero + sum([tenth] * 10)
