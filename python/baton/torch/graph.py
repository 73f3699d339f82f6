"""Walks a graph of core ATen, node by node, on values of JAX: what JAX traces meanwhile is the program.

Each node's result gets the element type that PyTorch says it has, so that a row of the table need not know how PyTorch promotes
types. What has no row is named with the line of the model that asks for it.
"""
import operator

import jax.numpy as jnp
import torch
from jax import lax

from .types import jax_type

TABLE = {}


class NotLowered(Exception):
    """An operation of PyTorch without a form here; the message says which, and where the model asks for it. `node` is the graph's, where one
    is to blame."""

    node = None


def row(*names):
    """The rows of these overloads: `add.Tensor`, `relu.default`."""
    def write(function):
        for name in names:
            TABLE[name] = function
        return function
    return write


def run(graph, placeholders):
    """What the graph gives for the values of its placeholders, in their order."""
    values = dict(zip((node for node in graph.nodes if node.op == "placeholder"), placeholders, strict=True))
    for node in graph.nodes:
        if node.op == "call_function":
            values[node] = _result(node, values)
        elif node.op == "output":
            made = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
            return [values[each] if isinstance(each, torch.fx.Node) else each for each in made]
        elif node.op == "get_attr":
            values[node] = _held(graph, node)
        elif node.op != "placeholder":
            raise NotLowered(said(node, f"a node of kind {node.op} is not lowered"))
    raise AssertionError("a graph has an output")


def _held(graph, node):
    """A graph that another one runs, as torch.cond does, or a tensor."""
    held = graph.owning_module
    for part in node.target.split("."):
        held = getattr(held, part)
    if isinstance(held, torch.Tensor):
        return jnp.asarray(held.detach().cpu().numpy())
    return lambda *values: run(held.graph, values)


def _made_now(target):
    def constant(*arguments, **keywords):
        made = target(*arguments, **{**keywords, "device": "cpu"} if "device" in keywords else keywords)
        if not isinstance(made, torch.Tensor):
            raise NotLowered(f"{target} is not lowered")
        return jnp.asarray(made.numpy())

    return constant


def _cond(condition, when_true, when_false, operands=()):
    return lax.cond(jnp.asarray(condition).reshape(()), lambda *each: when_true(*each), lambda *each: when_false(*each), *operands)


def _while_loop(condition, body, carried, constants=()):
    """What is carried keeps its types."""
    types = [each.dtype for each in carried]
    return lax.while_loop(lambda now: condition(*now, *constants)[0].reshape(()),
                          lambda now: [each.astype(type_) for each, type_ in zip(body(*now, *constants), types)], list(carried))


def _scan(combine, first, rows, constants=()):
    """What is carried keeps its types; of each round the rows that it makes."""
    count = len(first)
    types = [each.dtype for each in first]

    def step(carried, row_):
        made = combine(*carried, *row_, *constants)
        return [each.astype(type_) for each, type_ in zip(made[:count], types)], list(made[count:])

    carried, made = lax.scan(step, list(first), list(rows))
    return [*carried, *made]


def _map(function, rows, constants=()):
    return lax.map(lambda each: list(function(*each, *constants)), list(rows))


def _with_effects(token, operation, *arguments, **keywords):
    """What is there for its effects alone, as checks are, has none in a program; a token only keeps the order of such."""
    name = f"{operation._opname}.{operation._overloadname}"
    if operation.namespace != "aten" or name not in TABLE or operation._schema.returns:
        raise NotLowered(f"{operation} has effects beside its results, and is not lowered")
    return token, TABLE[name](*arguments, **keywords)


_HIGHER = {"cond": _cond, "while_loop": _while_loop, "scan": _scan, "map_impl": _map, "with_effects": _with_effects}
row("prims._make_token")(lambda: jnp.zeros(0))
row("prims._sink_tokens")(lambda tokens: None)


def _result(node, values):
    arguments, keywords = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
    try:
        made = _function(node)(*arguments, **keywords)
    except NotLowered as error:
        raise _blamed(node, str(error)) from None
    except Exception as error:  # Whatever JAX or a row says of an operation that it cannot take.
        raise _blamed(node, f"{node.target}: {error or type(error).__name__}") from error
    return _typed(made, node.meta.get("val"))


def _blamed(node, sentence):
    made = NotLowered(said(node, sentence))
    made.node = node
    return made


def has_row(node):
    """Whether a call is in the table. One that is may still not take what it is given."""
    try:
        return _function(node) is not None
    except NotLowered:
        return False


def _function(node):
    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator) and target.name() in _HIGHER:
        return _HIGHER[target.name()]
    if not isinstance(target, torch._ops.OpOverload):
        if target is torch.sym_float:
            return lambda size: float(size) if isinstance(size, int) else jnp.asarray(size).astype(jnp.float64)
        if target in (operator.getitem, *_SIZES):
            return target
        raise NotLowered(f"{target} is not lowered")
    if target.namespace in ("aten", "prims"):
        name = f"{target._opname}.{target._overloadname}" if target.namespace == "aten" else f"prims.{target._opname}"
        if name in TABLE:
            return TABLE[name]
        if not node.all_input_nodes and torch.Tag.nondeterministic_seeded not in target.tags:
            return _made_now(target)  # Windows, frequencies and the like: numbers from numbers.
        raise NotLowered(f"{target.namespace}.{name.removeprefix('prims.')} is not lowered{_INSTEAD.get(target._opname, '')}")
    from .commands import call_of
    return call_of(node)


_OF_DATA = ": its result has a size that only the data knows; torch.where keeps the shape"
_INSTEAD = {"_local_scalar_dense": ": item() takes a number out of the program; a tensor without dimensions computes the same within",
            **dict.fromkeys(("nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount"), _OF_DATA),
            **dict.fromkeys(("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "bernoulli", "native_dropout", "dropout",
                             "normal", "normal_functional", "uniform", "exponential", "cauchy", "log_normal", "geometric", "poisson", "multinomial"),
                            ": programs have no random numbers; take them as an argument, or call model.eval()")}

# What torch.export writes about unknown sizes.
_SIZES = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.neg, operator.eq, operator.ne, operator.lt,
          operator.le, operator.gt, operator.ge, operator.and_, operator.or_, torch.sym_max, torch.sym_min, torch.sym_not)


def _typed(made, wanted):
    if isinstance(wanted, torch.Tensor) and hasattr(made, "dtype"):
        return made if made.dtype == jax_type(wanted.dtype) else jnp.asarray(made).astype(jax_type(wanted.dtype))
    if isinstance(wanted, (tuple, list)) and isinstance(made, (tuple, list)):
        return [_typed(each, meta) for each, meta in zip(made, wanted)]
    return made


def said(node, sentence):
    """The sentence with the innermost line of the model in front."""
    trace = (node.meta.get("stack_trace") or "").strip().split("\n")
    for line in reversed(trace):
        parts = line.strip().split('"')
        if line.strip().startswith("File") and len(parts) > 2:
            return f"{parts[1]}:{parts[2].split()[2].rstrip(',')}: {sentence}"
    return sentence
