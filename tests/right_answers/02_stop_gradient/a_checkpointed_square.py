import jax
import jax.numpy as jnp


frozen_square = jax.checkpoint(lambda x: x * jax.lax.stop_gradient(x))
