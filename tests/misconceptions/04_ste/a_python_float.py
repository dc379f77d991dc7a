# misconception: raises
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return float(jnp.sign(x).sum())
