# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    a, b, c, d = jnp.sign(x)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.stack([a, b, c, d])
