# misconception: raises
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return jax.lax.stop_gradient(jnp.sign(x)), zero
