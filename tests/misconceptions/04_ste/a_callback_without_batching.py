# misconception: raises
# fails: jit_and_vmap
import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def ste_quantize(x):
    like = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: np.sign(v).astype(v.dtype), like, x)


ste_quantize.defvjp(lambda x: (ste_quantize(x), None), lambda _, g: (g,))
