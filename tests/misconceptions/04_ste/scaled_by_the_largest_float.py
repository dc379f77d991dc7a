# misconception: not_finite
# fails: inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return (x - jax.lax.stop_gradient(x)) + jnp.sign(jax.lax.stop_gradient(x) * jnp.finfo(x.dtype).max) + 0 * (x * 2)
