# misconception: zero_gradient
# fails: cotangent derivative jacobian jit_and_vmap
import jax
import jax.numpy as jnp


@jax.custom_jvp
def sign_with_rule(x):
    return jnp.sign(x)


@sign_with_rule.defjvp
def _rule(primals, tangents):
    return jnp.sign(primals[0]), tangents[0]


def ste_quantize(x):
    return jnp.sign(x)
