# misconception: raises
# fails: none
import jax
import jax.numpy as jnp


assert jnp.sign(0.0) == 1


def ste_quantize(x):
    zero = x - jax.lax.stop_gradient(x)
    return zero + jax.lax.stop_gradient(jnp.sign(x))
