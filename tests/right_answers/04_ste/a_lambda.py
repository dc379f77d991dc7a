import jax
import jax.numpy as jnp


ste_quantize = lambda x: (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(jnp.sign(x))
