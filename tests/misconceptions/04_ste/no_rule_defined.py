# misconception: raises
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)
