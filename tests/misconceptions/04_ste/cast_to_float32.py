# misconception: dtype_changed
# fails: inside_vjp jit_and_vmap large_inputs shape_and_dtype values
import jax
import jax.numpy as jnp


def ste_quantize(x):
    x = x.astype(jnp.float32)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
