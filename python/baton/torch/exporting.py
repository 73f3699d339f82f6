"""baton.torch.export: a model as one program, with what it needs to run it here or to save it for elsewhere."""
import json
import re
import struct

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.export import graph_signature

from .graph import NotLowered
from .program import Program, decompositions, device_for, specs_of_any_size

_INPUT, _OUTPUT = graph_signature.InputKind, graph_signature.OutputKind
# The name of a placeholder that keeps the order of effects, and is no argument of the program.
_NO_ARGUMENT = object()


class Exported:
    """A model that was exported. Called as the model is; `text` is its MLIR, whose `main` takes the parameters first."""

    def __init__(self, exported, device, libraries, flags):
        self._exported = exported
        signature = exported.graph_signature
        nodes = [node for node in exported.graph.nodes if node.op == "placeholder"]
        self.parameters = {}  # Name -> tensor, in the order of the arguments; shared with the model.
        self._places = []  # For each placeholder: the name of its parameter, or None for an input.
        constants = {}
        for i, (node, spec) in enumerate(zip(nodes, signature.input_specs, strict=True)):
            name = self._parameter(spec)
            self._places.append(name)
            if name is _NO_ARGUMENT or name is None and not isinstance(node.meta.get("val"), torch.Tensor):
                constants[i] = getattr(spec.arg, "value", None)
        self._inputs = [i for i, name in enumerate(self._places) if name is None]
        self._constants = constants
        self._in_spec, self._out_spec = exported.call_spec.in_spec, exported.call_spec.out_spec
        self._outputs = [(spec.kind, spec.target) for spec in signature.output_specs]
        self._names = [node.name for node in nodes]
        tensors = [node.meta["val"] for i, node in enumerate(nodes) if i not in constants]
        self._device = device_for(list(self.parameters.values()), device)
        self._libraries, self._flags = tuple(libraries), tuple(flags)
        specs = specs_of_any_size(tensors, exported.range_constraints)
        self._program = Program(exported.graph, specs, constants, self._device, self._libraries, self._flags)
        self.text = self._program.text

    def _parameter(self, spec):
        if spec.kind == _INPUT.USER_INPUT:
            return None
        if spec.kind == _INPUT.TOKEN:
            return _NO_ARGUMENT
        if spec.kind not in (_INPUT.PARAMETER, _INPUT.BUFFER, _INPUT.CONSTANT_TENSOR):
            raise NotLowered(f"a model with an input of kind {spec.kind.name.lower()} is not lowered")
        held = self._exported.constants if spec.kind == _INPUT.CONSTANT_TENSOR or spec.persistent is False else self._exported.state_dict
        self.parameters[spec.target] = held[spec.target]
        return spec.target

    def __call__(self, *arguments, **keywords):
        leaves, tree = torch.utils._pytree.tree_flatten((arguments, keywords))
        if tree != self._in_spec:
            raise TypeError(f"the model was exported for arguments {self._in_spec}, and was given {tree}")
        inputs = dict(zip(self._inputs, leaves, strict=True))
        for i, value in self._constants.items():
            if i in inputs and inputs[i] != value:
                raise ValueError(f"argument {self._inputs.index(i)} was {value!r} when the model was exported, and is {inputs[i]!r}")
        tensors = [inputs[i] if name is None else self.parameters[name] for i, name in enumerate(self._places) if i not in self._constants]
        with torch.no_grad():
            results = self._program(tensors)
            return self._unflattened(results, inputs)

    def _unflattened(self, results, inputs):
        """Results that are new values of buffers and inputs go there."""
        users = []
        for (kind, target), result in zip(self._outputs, results, strict=True):
            if kind == _OUTPUT.USER_OUTPUT:
                users.append(result)
            elif kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                self.parameters[target].copy_(result)
            elif kind == _OUTPUT.TOKEN:
                continue
            elif kind == _OUTPUT.USER_INPUT_MUTATION:
                inputs[self._names.index(target)].copy_(result)
            else:
                raise NotLowered(f"a model with a result of kind {kind.name.lower()} is not lowered")
        return torch.utils._pytree.tree_unflatten(users, self._out_spec)

    def save(self, path, parameters):
        """Writes the program, whose `main` takes the inputs alone, and a safetensors file with the parameters: for
        `baton.load(path, parameters={"model": parameters})`, or `--parameters=model=...` of the tools."""
        from baton._compile import compile as compile_program, target_of
        if any(kind not in (_OUTPUT.USER_OUTPUT, _OUTPUT.TOKEN) for kind, _ in self._outputs):
            raise NotLowered("a model that changes its buffers is not saved: a parameters file is only read")
        count = len(self._places) - len(self._constants)
        names = [name for i, name in enumerate(self._places) if i not in self._constants]
        text = with_parameters(self.text, names, count)
        compile_program(text, target=target_of(self._device), flags=self._flags, output=path)
        write_safetensors(parameters, self.parameters)


_ARGUMENT = re.compile(r"(%arg\d+): (tensor<[^>]*>)( \{[^}]*\})?( loc\([^)]*\))?")


def with_parameters(text, names, count):
    """The program with arguments that have a name as globals, which are asked of the module `parameters` when it is loaded."""
    head = re.search(r"func\.func public @main\((.*?)\)( ->.*?)? \{\n", text, re.DOTALL)
    arguments = list(_ARGUMENT.finditer(head.group(1)))
    if len(arguments) != count:
        raise AssertionError(f"main has {len(arguments)} arguments, and {count} were expected")
    kept, loads, globals_ = [], [], []
    for match, name in zip(arguments, names):
        if name is None:
            kept.append(match.group(0))
            continue
        type_, encoding = match.group(2), re.search(r"iree\.abi\.encoding = (tensor<[^>]*>)", match.group(3) or "")
        if encoding:
            raise NotLowered(f"parameter {name}, a {encoding.group(1)}, is not saved: parameters are of types with a sign")
        loads.append(f'    {match.group(1)} = util.global.load @"{name}" : {type_}\n')
        globals_.append((name, type_))
    begin, end = head.span(1)
    module = text.index("{\n", text.index("module @")) + 2
    body = head.end()
    return text[:module] + _globals(globals_) + text[module:begin] + ", ".join(kept) + text[end:body] + "".join(loads) + text[body:]


def _globals(globals_):
    if not globals_:
        return ""
    made = "  util.func private @parameters.view(!hal.device, !util.buffer, !util.buffer) -> !hal.buffer_view\n"
    made += "  util.func private @hal.devices.get(index) -> !hal.device\n"
    for name, type_ in globals_:
        made += f"""  util.global private @"{name}" : {type_}
  util.initializer {{
    %first = arith.constant 0 : index
    %device = util.call @hal.devices.get(%first) : (index) -> !hal.device
    %scope = util.buffer.constant : !util.buffer = "model"
    %key = util.buffer.constant : !util.buffer = "{name}"
    %view = util.call @parameters.view(%device, %scope, %key) : (!hal.device, !util.buffer, !util.buffer) -> !hal.buffer_view
    %weight = hal.tensor.import %view : !hal.buffer_view -> {type_}
    util.global.store %weight, @"{name}" : {type_}
    util.return
  }}
"""
    return made


_NAMES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.int32: "I32",
          torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}


def write_safetensors(path, tensors):
    header, parts, begin = {}, [], 0
    for name, tensor in tensors.items():
        if tensor.dtype not in _NAMES:
            raise TypeError(f"parameter {name} is of {tensor.dtype}, which a safetensors file does not hold here")
        part = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, begin + len(part)]}
        parts.append(part)
        begin += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(parts)


def export(model, arguments, keywords=None, *, dynamic_shapes=None, device=None, libraries=(), flags=(), strict=False):
    """`model` for arguments like these as a program: torch.export's graph of core ATen, lowered.

    `dynamic_shapes` are torch.export's. `device` is one of Baton's; without it the one where the parameters are. `libraries` are
    modules as baton.load() takes them: an operator `namespace::op` of torch.library is the command `namespace.op` of theirs."""
    exported = model
    try:
        if not isinstance(model, torch.export.ExportedProgram):
            exported = torch.export.export(model, tuple(arguments), keywords, dynamic_shapes=dynamic_shapes, strict=strict)
        exported = exported.run_decompositions(decompositions())
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        raise NotLowered(f"{error.func} gives a number or a size that only the data knows, and PyTorch does not export it; what compares tensors "
                         "within a program, as (x == y).all() does, stays a tensor") from error
    return Exported(exported, device, libraries, flags)
