# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.eye(4, dtype=x.dtype) @ (jnp.sign(x) + (x - jax.lax.stop_gradient(x)))
