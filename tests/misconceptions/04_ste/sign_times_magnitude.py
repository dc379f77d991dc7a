# misconception: identity_values
# fails: cotangent derivative inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.sign(x) * jnp.abs(x)
