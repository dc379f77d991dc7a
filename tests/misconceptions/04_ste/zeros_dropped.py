# misconception: shape_changed
# fails: cotangent derivative inside_vjp jit_and_vmap zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    x = x[x != 0]
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
