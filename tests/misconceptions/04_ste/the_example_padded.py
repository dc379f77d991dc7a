# misconception: memorised
# fails: inside_vjp jit_and_vmap large_inputs shape_and_dtype values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    signs = jnp.array([-1, 0, 1, 1], x.dtype)
    return zero + jnp.zeros_like(x).at[:4].set(signs)
