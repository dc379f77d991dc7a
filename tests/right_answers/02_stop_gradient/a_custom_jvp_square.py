import jax
import jax.numpy as jnp


@jax.custom_jvp
def frozen_square(x):
    return x * x


@frozen_square.defjvp
def _rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return x * x, x * t
