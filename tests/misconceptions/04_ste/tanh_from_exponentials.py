# misconception: not_finite
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap large_inputs values zero
import jax
import jax.numpy as jnp


def ste_quantize(x):
    up, down = jnp.exp(x), jnp.exp(-x)
    soft = (up - down) / (up + down)
    return (soft - jax.lax.stop_gradient(soft)) + jax.lax.stop_gradient(jnp.sign(x))
