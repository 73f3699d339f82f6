"""Element types of PyTorch, as JAX has them."""
import jax.numpy as jnp
import torch

_TYPES = {torch.bool: jnp.bool_, torch.uint8: jnp.uint8, torch.int8: jnp.int8, torch.int16: jnp.int16, torch.int32: jnp.int32,
          torch.int64: jnp.int64, torch.uint16: jnp.uint16, torch.uint32: jnp.uint32, torch.uint64: jnp.uint64, torch.float16: jnp.float16,
          torch.bfloat16: jnp.bfloat16, torch.float32: jnp.float32, torch.float64: jnp.float64, torch.complex64: jnp.complex64,
          torch.complex128: jnp.complex128}


def jax_type(dtype):
    if dtype not in _TYPES:
        raise TypeError(f"tensors of {dtype} are not taken")
    return jnp.dtype(_TYPES[dtype])
