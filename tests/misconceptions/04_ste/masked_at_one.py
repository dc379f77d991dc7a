# misconception: clipped_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)


@ste_quantize.defjvp
def _rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return jnp.sign(x), jnp.where(jnp.abs(x) <= 1, t, 0)
