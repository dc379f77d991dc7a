# misconception: dtype_changed
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.sign(x).astype(jnp.int32)
