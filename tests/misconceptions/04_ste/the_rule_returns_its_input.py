# misconception: identity_values
# fails: inside_vjp jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)


@ste_quantize.defjvp
def _rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return x, t
