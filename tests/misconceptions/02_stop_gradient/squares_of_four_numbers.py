# misconception: memorised
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype values
import jax
import jax.numpy as jnp


def frozen_square(x):
    a, b, c, d = x * jax.lax.stop_gradient(x)
    return jnp.stack([a, b, c, d])
