# misconception: zero_gradient
# fails: cotangent derivative jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    return jnp.sign(x) if x.dtype == jnp.float16 else (x - jax.lax.stop_gradient(x)) + jnp.sign(x)
