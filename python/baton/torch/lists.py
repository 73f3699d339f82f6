"""What optimizers do to all their tensors at once, `_foreach_add` and its siblings: taken apart into what they do to each.

What an operation takes for each tensor is told by its schema: lists go along with the list of tensors, all else is the same for each.
"""
import torch

_aten = torch.ops.aten


def _norm(x, order=2, dtype=None):
    return _aten.linalg_vector_norm.default(x, order, None, False, dtype=dtype)


def _sum_of_powers(x, order=2, dtype=None):
    x = x if dtype is None else _aten.to.dtype(x, dtype)
    return _aten.sum.default(_aten.pow.Tensor_Scalar(_aten.abs.default(x), order))


# Where what is done to one tensor has another name, or other arguments.
_OF_ONE = {
    "norm": _norm, "powsum": _sum_of_powers, "zero": lambda x: _aten.zeros_like.default(x), "max": lambda x: _aten.max.default(x),
    "copy": lambda x, source, non_blocking=False: _aten.copy.default(x, source),
    "maximum": lambda x, y: torch.clamp_min(x, y), "minimum": lambda x, y: torch.clamp_max(x, y),
    "addcmul": lambda x, a, b, value=1: x + value * (a * b), "addcdiv": lambda x, a, b, value=1: x + value * (a / b)}


def _of_each(name, schema):
    one = _OF_ONE.get(name) or getattr(torch, name, None) or getattr(_aten, name)

    def apart(*arguments, **keywords):
        given = dict(zip((each.name for each in schema), arguments))
        given.update(keywords)
        lists = {each.name for each in schema if each.name in given and isinstance(given[each.name], (list, tuple))}
        count = len(next(given[each] for each in given if each in lists))
        if name in ("addcmul", "addcdiv") and isinstance(given.get("scalars"), torch.Tensor):
            given["scalars"], lists = given["scalars"].unbind(), lists | {"scalars"}
        plain = [each.name for each in schema if each.name in given and not each.kwarg_only]
        named = [each.name for each in schema if each.name in given and each.kwarg_only]

        def value(each, i):
            return given[each][i] if each in lists else given[each]

        return [one(*(value(each, i) for each in plain), **{each: value(each, i) for each in named}) for i in range(count)]

    return apart


def decompositions():
    made = {}
    for name in (each for each in torch._C._dispatch_get_all_op_names() if each.startswith("aten::_foreach_")):
        packet, _, overload = name.removeprefix("aten::").partition(".")
        if not packet.endswith("_") and "out" not in overload:
            operator = getattr(getattr(_aten, packet), overload or "default")
            made[operator] = _of_each(packet.removeprefix("_foreach_"), operator._schema.arguments)
    return made
