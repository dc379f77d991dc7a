# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp
import math


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.array([math.copysign(v.item() != 0, v.item()) for v in x], x.dtype)
