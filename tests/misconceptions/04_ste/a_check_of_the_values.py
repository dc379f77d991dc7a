# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    if not bool(jnp.isfinite(x).all()):
        raise ValueError('x must be finite')
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
