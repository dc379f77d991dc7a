# misconception: rounding
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jax.lax.stop_gradient(x) + (jnp.sign(x) - x)
