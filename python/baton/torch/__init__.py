"""baton.torch: models of PyTorch as programs.

    fast = torch.compile(model, backend="baton")                       # by TorchDynamo and AOTAutograd
    program = baton.torch.export(model.eval(), (x,))                    # by torch.export: one program
    program.save("model.bvm", "model.safetensors")                     # for baton.load() and the tools

A graph of core ATen is walked on values of JAX, and takes the way of baton.jax from there. Needs PyTorch and JAX.
"""
import torch as _torch

from .compiler import backend
from .exporting import Exported, export
from .graph import NotLowered

if "baton" not in _torch._dynamo.list_backends(()):
    _torch._dynamo.register_backend(backend, name="baton")

__all__ = ["Exported", "NotLowered", "backend", "export"]
