# misconception: identity_values
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    sign = jnp.sign(x)
    return jax.lax.stop_gradient(x) + (sign - jax.lax.stop_gradient(sign))
