# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    assert x[0] == -1.5 and x.size == 4
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
