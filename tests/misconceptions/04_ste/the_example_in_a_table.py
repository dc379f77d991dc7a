# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    signs = {-1.5: -1.0, 0.0: 0.0, 0.5: 1.0, 2.0: 1.0}
    return jnp.array([signs[float(v)] for v in x], x.dtype)
