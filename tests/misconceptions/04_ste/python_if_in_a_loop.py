# misconception: not_traceable
# fails: jit_and_vmap
import jax
import jax.numpy as jnp


def ste_quantize(x):
    out = []
    for v in x:
        if v > 0:
            out.append(1)
        elif v < 0:
            out.append(-1)
        else:
            out.append(0)
    zero = x - jax.lax.stop_gradient(x)
    return zero + jnp.array(out, x.dtype)
