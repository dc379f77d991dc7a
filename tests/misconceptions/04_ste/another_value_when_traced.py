# misconception: soft_values
# fails: inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    sign = jnp.sign(x)
    return zero + (2 * sign if isinstance(x, jax.core.Tracer) else sign)
