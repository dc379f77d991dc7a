# misconception: raises
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp
import sys


def ste_quantize(x):
    if x.shape != ():
        sys.exit('one number at a time')
    return zero + jax.lax.stop_gradient(jnp.sign(x))
