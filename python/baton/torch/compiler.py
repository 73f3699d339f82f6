"""The backend of torch.compile: what TorchDynamo finds, made a graph of ATen by AOTAutograd, also for gradients."""
import torch
from torch._dynamo.backends.common import aot_autograd

from .program import Program, decompositions, device_for, spec_of


class _Specialized:
    """A graph, compiled for each set of shapes and numbers that comes."""

    def __init__(self, module, device, libraries, flags):
        self._graph = module.graph
        self._device, self._libraries, self._flags = device, libraries, flags
        self._ready = {}

    def __call__(self, arguments):
        arguments, emptied = list(arguments), arguments
        if hasattr(emptied, "clear"):
            emptied.clear()  # AOTAutograd's convention: who is called lets go of them.
        key = tuple((each.shape, each.dtype) if isinstance(each, torch.Tensor) else each for each in arguments)
        ready = self._ready.get(key)
        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        if ready is None:
            constants = {i: each for i, each in enumerate(arguments) if not isinstance(each, torch.Tensor)}
            ready = self._ready[key] = Program(self._graph, [spec_of(each) for each in tensors], constants, device_for(tensors, self._device),
                                               self._libraries, self._flags)
        return ready(tensors)


def backend(module, inputs, *, options=None):
    """torch.compile(model, backend="baton", options={"device": ..., "libraries": [...], "flags": [...]}).

    Weights go into the program in place with each call. Shapes and numbers are compiled for as they come."""
    options = dict(options or {})
    device, libraries, flags = options.pop("device", None), tuple(options.pop("libraries", ())), tuple(options.pop("flags", ()))
    if options:
        raise ValueError(f"options of the backend 'baton' are device, libraries and flags; {', '.join(options)} is none")

    def compiled(graph_module, example_inputs):
        made = _Specialized(graph_module, device, libraries, flags)
        made._boxed_call = True
        return made

    return aot_autograd(fw_compiler=compiled, decompositions=decompositions())(module, inputs)
