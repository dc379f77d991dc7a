# misconception: not_traceable
# fails: cotangent derivative inside_vjp jacobian jit_and_vmap shape_and_dtype
import jax
import jax.numpy as jnp


def ste_quantize(x):
    n = x.shape[0]
    def step(state):
        i, y = state
        v = x[i]
        return i + 1, y.at[i].set((v - jax.lax.stop_gradient(v)) + jnp.sign(v))
    return jax.lax.while_loop(lambda state: state[0] < n, step, (0, jnp.zeros_like(x)))[1]
