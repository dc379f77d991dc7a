# misconception: mixed_jacobian
# fails: derivative jit_and_vmap
import jax
import jax.numpy as jnp


def sign_slope(x, h):
    total = x.mean()
    return (jnp.sign(x + h) - jnp.sign(x - h)) / (2 * h) + (total - jax.lax.stop_gradient(total))
