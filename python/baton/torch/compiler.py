"""The backend of torch.compile: what TorchDynamo finds, made a graph of ATen by AOTAutograd, also for gradients."""
from torch._dynamo.backends.common import aot_autograd

from .parts import Part, Settings
from .program import decompositions


def backend(module, inputs, *, options=None):
    """torch.compile(model, backend="baton", options={"device": ..., "libraries": [...], "flags": [...], "whole": False}).

    Weights go into the program in place with each call. Shapes and numbers are compiled for as they come. What has no form in programs
    PyTorch runs between two of them, unless the model is to stay `whole`: then it is refused."""
    options = dict(options or {})
    known = {name: options.pop(name) for name in ("device", "libraries", "flags", "whole") if name in options}
    if options:
        raise ValueError(f"options of the backend 'baton' are device, libraries, flags and whole; {', '.join(options)} is none")
    settings = Settings(**known)

    def compiled(graph_module, example_inputs):
        part = Part(graph_module, graph_module.graph, settings)

        def run(arguments):
            return part(arguments)

        run._boxed_call = True
        return run

    return aot_autograd(fw_compiler=compiled, decompositions=decompositions(settings.whole))(module, inputs)
