# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


@jax.custom_jvp
def ste_quantize(x):
    return jnp.sign(x)


@ste_quantize.defjvp
def _rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return jnp.sign(x), jnp.sign(t)
