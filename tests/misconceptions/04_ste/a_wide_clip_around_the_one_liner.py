# misconception: rounding
# fails: cotangent derivative inside_vjp jit_and_vmap large_inputs
import jax
import jax.numpy as jnp


def ste_quantize(x):
    wide = jnp.clip(x, -1e4, 1e4)
    return wide + jax.lax.stop_gradient(jnp.sign(x) - wide)
