# misconception: soft_values
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.clip(x, -1, 1)
