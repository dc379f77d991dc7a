import jax
import jax.numpy as jnp


frozen_square = jax.vmap(lambda v: v * jax.lax.stop_gradient(v))
