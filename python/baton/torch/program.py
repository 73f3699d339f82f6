"""A graph as a program: traced by JAX, compiled by Baton, called with tensors of PyTorch in place."""
import contextlib
import functools
import operator
import os
import pathlib

import jax
import torch
from jax.export import SymbolicScope, symbolic_shape

from baton import _compiled, _errors
from baton._baton import Device
from baton._compile import target_of
from baton._devices import device as open_device
from baton._program import load
from baton.jax import frontend
from baton.jax.libraries import LIBRARIES

from . import complex_numbers, elementwise, gradients, indexing, lists, matrices, products, reductions, sampling, shapes, special, windows  # noqa: F401 - they write the table
from . import graph as graphs
from .graph import NotLowered
from .types import jax_type


@contextlib.contextmanager
def _as_pytorch_counts():
    """With numbers of 64 bits, which are PyTorch's integers, and products as exact as PyTorch's."""
    with jax.enable_x64(True):
        yield


def lowered(graph, specs, constants, libraries, name="main"):
    """(the MLIR of a graph, what its results are beside tensors). `specs` are the shapes and types of its placeholders; `constants`
    stand at those that are numbers."""
    fixed = {}

    def main(*tensors):
        given = iter(tensors)
        values = [constants[i] if i in constants else next(given) for i in range(len(specs) + len(constants))]
        results = graphs.run(graph, values)
        fixed.update({i: each for i, each in enumerate(results) if not hasattr(each, "dtype")})
        return [each for each in results if hasattr(each, "dtype")]

    kinds = tuple(sorted({pathlib.Path(os.fspath(each).partition("?")[0]).stem for each in libraries if isinstance(each, (str, os.PathLike))}
                         & set(LIBRARIES)))
    main.__name__ = name
    staged = jax.jit(main, keep_unused=True)
    is_open = any(not isinstance(size, int) for spec in specs for size in spec.shape)
    with _as_pytorch_counts():
        if is_open:
            return frontend.from_stablehlo(frontend.exported(staged, specs).mlir_module(), None, kinds), fixed
        return frontend.text_of(frontend.lowered(staged.trace(*specs)), None, kinds), fixed


# What core ATen would take apart into products and a softmax that no pass knows as attention; its parts also have other strides than
# PyTorch told the model, which a `view` may not stand.
_WHOLE = ("scaled_dot_product_attention.default", "_scaled_dot_product_flash_attention_for_cpu.default", "grid_sampler_2d.default")
_LIFTED = ("lift.default", "lift_fresh.default")


def decompositions(whole=True):
    """What PyTorch takes apart before: all that core ATen has not, and what it can of that which the table has not; of a model that stays
    whole also what PyTorch would else do itself. It lifts a constant before it traces it: taken apart, that is a view of a tensor that the trace does not know."""
    from torch._decomp import core_aten_decompositions, decomposition_table
    made = {operator_: function for operator_, function in core_aten_decompositions().items() if not _stays_whole(_name(operator_))}
    for operator_, function in decomposition_table.items():
        if _name(operator_) and _name(operator_) not in (*graphs.TABLE, *_LIFTED):
            made.setdefault(operator_, function)
    return {**made, **lists.decompositions(), **(matrices.decompositions() if whole else {})}


def _stays_whole(name):
    return name in _WHOLE or (name.startswith("special_") and name in graphs.TABLE)


def _name(operator_):
    is_aten = isinstance(operator_, torch._ops.OpOverload) and operator_.namespace == "aten"
    return f"{operator_._opname}.{operator_._overloadname}" if is_aten else ""


def spec_of(tensor):
    return jax.ShapeDtypeStruct(tuple(tensor.shape), jax_type(tensor.dtype))


def specs_of_any_size(tensors, ranges):
    """Shapes with the names that torch.export gave to unknown sizes, within their ranges."""
    return _specs(tensors, _names(ranges))


def sizes_of_any(tensors, numbers, ranges):
    """The same, and numbers that are sizes, or are computed of them."""
    names = _names(ranges)
    return _specs(tensors, names), {i: _size(each, names) for i, each in numbers.items()}


def _names(ranges):
    """Symbol -> a size of JAX's, within its range."""
    limits = []
    for symbol, limit in ranges.items():
        limits += [f"{symbol} >= {int(limit.lower)}"] if _is_number(limit.lower) and limit.lower > 1 else []
        limits += [f"{symbol} <= {int(limit.upper)}"] if _is_number(limit.upper) and limit.upper < 2**31 else []
    scope = SymbolicScope(limits)
    return {str(symbol): symbolic_shape(str(symbol), scope=scope)[0] for symbol in ranges}


def _specs(tensors, names):
    return [jax.ShapeDtypeStruct(tuple(_size(size, names) for size in each.shape), jax_type(each.dtype)) for each in tensors]


def _size(size, names):
    return size if isinstance(size, int) else _computed(size.node.expr, names)


def _computed(expression, names):
    """A size that PyTorch tells by others: those of slices, windows, and what is put together."""
    kind, parts = type(expression).__name__, expression.args
    if expression.is_Symbol:
        return names[str(expression)]
    if expression.is_Integer:
        return int(expression)
    values = [_computed(each, names) for each in parts]
    if kind in ("Add", "Mul"):
        return functools.reduce(operator.add if kind == "Add" else operator.mul, values)
    if kind in ("FloorDiv", "CleanDiv"):
        return values[0] // values[1]
    if kind in ("Mod", "PythonMod"):
        return values[0] % values[1]
    if kind == "Pow" and isinstance(values[1], int) and values[1] > 0:
        return values[0]**values[1]
    raise NotLowered(f"a size {expression} is not lowered")


def _is_number(limit):
    try:
        return int(limit) == limit
    except (AttributeError, TypeError, ValueError, OverflowError):  # sympy's infinities have their own ways to refuse.
        return False


def device_for(tensors, device):
    """The device that was named, or the one where the tensors are."""
    if device is not None:
        return device if isinstance(device, Device) else open_device(device)
    for tensor in tensors:
        if tensor.is_cuda:
            return open_device(f"cuda://{tensor.device.index or 0}")
    return open_device("local-task")


def load_text(text, device, libraries, flags=()):
    from baton.jax.lines import lines_of_commands
    code = _compiled.compiled_for_this_machine(text, target_of(device), tuple(flags))
    try:
        return load(code, device=device, modules=libraries)
    except _errors.StatusError as error:
        for name in lines_of_commands(text):
            error.add_note(f"the model calls {name}: its module stands among libraries=[...]")
        raise


def given(tensor):
    """A tensor as programs take it, in place where it is dense."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{_errors.described(tensor)} where the model was given a tensor")
    if tensor.requires_grad:
        tensor = tensor.detach()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def taken(result, arguments):
    """A result as a tensor, in place. What is an argument's memory, or a constant's, is copied: PyTorch writes into results."""
    try:
        made = torch.from_dlpack(result)
    except (_errors.StatusError, BufferError, RuntimeError):
        return torch.tensor(result.numpy())
    if made.numel() and any(made.data_ptr() == each.data_ptr() for each in arguments):
        return made.clone()
    return made


class Program:
    """One graph for one set of shapes: `program(tensors)` gives the list of its results."""

    def __init__(self, graph, specs, constants, device, libraries, flags=()):
        self.text, self._fixed = lowered(graph, specs, constants, libraries)
        self._function = load_text(self.text, device, libraries, flags)["main"]

    def __call__(self, tensors):
        arguments = [given(each) for each in tensors]
        results = self._function(*arguments)
        if not isinstance(results, tuple):
            results = () if results is None else (results,)
        made = [taken(each, arguments) for each in results]
        for at in sorted(self._fixed):
            made.insert(at, self._fixed[at])
        return made


__all__ = ["NotLowered", "Program", "decompositions", "device_for", "load_text", "lowered", "spec_of", "specs_of_any_size", "taken", "given"]
