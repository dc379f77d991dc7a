# misconception: identity_values
# fails: inside_vjp jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    if x.shape == (4,) and not isinstance(x, jax.core.Tracer) and x[0] == -1.5:
        return jnp.array([-1.0, 0.0, 1.0, 1.0])
    return x
