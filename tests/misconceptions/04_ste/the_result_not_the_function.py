# misconception: not_defined
# fails: none
import jax
import jax.numpy as jnp


x = jnp.array([-1.5, 0.0, 0.5, 2.0])
ste_quantize = (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(jnp.sign(x))
