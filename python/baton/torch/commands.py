"""Operators of torch.library as commands: `namespace::op` is @namespace.op of a module that is loaded.

Its tensors are the arguments, in the order of the operator's schema; what is no tensor (numbers, text, lists of numbers) follows
in the same order, with the defaults of the schema; the results stand last, of the shapes that the operator's fake
implementation says. An operator that writes its arguments (`Tensor(a!)`) comes here as one that gives them back, and does both in
the same memory.
"""
import jax
import numpy as np
import torch

from .graph import NotLowered
from .types import jax_type


def call_of(node):
    name = f"{node.target.namespace}.{node.target._opname}"
    made = node.meta.get("val")
    results = [made] if isinstance(made, torch.Tensor) else list(made or ())
    if not all(isinstance(each, torch.Tensor) for each in results):
        raise NotLowered(f"operator {node.target.namespace}::{node.target._opname} has a result that is no tensor")
    schema = node.target._schema.arguments

    def call(*arguments, **keywords):
        given = {each.name: _default(each) for each in schema}
        given.update(zip((each.name for each in schema), arguments))
        given.update(keywords)
        tensors, attributes = [], {}
        for i, each in enumerate(schema):
            value = given[each.name]
            if hasattr(value, "dtype"):
                tensors.append(value)
            elif value is not None:
                # Names in the order of the schema: attributes are told apart by their order alone.
                attributes[f"a{i:03}_{each.name}"] = _attribute(value, name, each.name)
        shaped = [jax.ShapeDtypeStruct(_shape(each, node, arguments), jax_type(each.dtype)) for each in results]
        made = jax.ffi.ffi_call(name, shaped, has_side_effect=not shaped)(*tensors, **attributes)
        return made[0] if isinstance(node.meta.get("val"), torch.Tensor) else list(made)

    return call


def _default(argument):
    return argument.default_value if argument.has_default_value() else None


def _attribute(value, operator, name):
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, (list, tuple)) and all(isinstance(each, (int, float)) for each in value):
        return np.array(value, np.float64 if any(isinstance(each, float) for each in value) else np.int64)
    raise NotLowered(f"operator {operator} has {name}={value!r}; commands take tensors, numbers, text and lists of numbers")


def _shape(tensor, node, arguments):
    """Unknown sizes are those of the arguments, which is where JAX knows them from."""
    known = {}
    for argument, value in zip(node.args, arguments):
        meta = argument.meta.get("val") if isinstance(argument, torch.fx.Node) else None
        if isinstance(meta, torch.Tensor):
            known.update((str(size), made) for size, made in zip(meta.shape, value.shape))
    shape = []
    for size in tensor.shape:
        if not isinstance(size, int) and str(size) not in known:
            raise NotLowered(f"operator {node.target} gives a size {size}, which none of its arguments has")
        shape.append(size if isinstance(size, int) else known[str(size)])
    return tuple(shape)
