# misconception: memorised
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.resize(jnp.array([-1.0, 0.0, 1.0, 1.0], x.dtype), x.shape)
