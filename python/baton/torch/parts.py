"""A graph of torch.compile in parts: programs, and between them what has no row, which PyTorch runs.

A part is a program for each set of shapes and numbers that comes. Where tracing finds an operation that it cannot take, the part is cut
there, once and for all: parts before and behind it, as few as its dependencies allow. What PyTorch runs keeps its order, which is
that of its random numbers.
"""
import logging
import operator

import torch

from baton import _errors

from .graph import NotLowered, has_row, said
from .matrices import BETTER_LEFT
from .open_sizes import OpenProgram
from .program import Program, device_for, spec_of
from .types import jax_type

_log = logging.getLogger("baton.torch")
_told = set()
# So many sets of shapes have a program each before there is one for all.
_FEW = 4
# Checks, which raise.
_EFFECTS = ("with_effects", "_make_token.default", "_sink_tokens.default")


class Settings:
    """What the options of torch.compile say, for all parts of a graph."""

    def __init__(self, device=None, libraries=(), flags=(), whole=False):
        self.device, self.libraries, self.flags, self.whole = device, tuple(libraries), tuple(flags), bool(whole)


class Part:
    """A graph, called with a list of its placeholders' values."""

    def __init__(self, module, graph, settings):
        self._module, self._graph, self._settings = module, graph, settings
        self._ready, self._open, self._steps = {}, None, None
        left = {node for node in graph.nodes if node.op == "call_function" and not self._may_be_lowered(node)}
        if left and not settings.whole:
            self._cut(left)

    def _may_be_lowered(self, node):
        is_command = isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in ("aten", "prims")
        is_left = not self._settings.whole and getattr(node.target, "__name__", "") in (*BETTER_LEFT, *_EFFECTS)
        is_left = is_left or any(not _is_taken(each) for each in (node, *node.all_input_nodes))
        return has_row(node) and not is_left and (not is_command or bool(self._settings.libraries))

    def __call__(self, arguments):
        arguments, emptied = list(arguments), arguments
        if hasattr(emptied, "clear"):
            emptied.clear()  # AOTAutograd's convention: who is called lets go of them.
        program = self._program(arguments) if self._steps is None else None
        if program is not None:
            return program([each for each in arguments if isinstance(each, torch.Tensor)])
        return self._stepped(arguments)

    def _program(self, arguments):
        """The program for arguments like these, or None where the part was cut instead."""
        key = tuple((each.shape, each.dtype) if isinstance(each, torch.Tensor) else (type(each), each) for each in arguments)
        made = self._ready.get(key) or self._for_any_size(arguments)
        if made is not None:
            return made
        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        constants = {i: each for i, each in enumerate(arguments) if not isinstance(each, torch.Tensor)}
        settings = self._settings
        try:
            made = Program(self._graph, [spec_of(each) for each in tensors], constants, device_for(tensors, settings.device), settings.libraries,
                           settings.flags)
        except NotLowered as error:
            if settings.whole or error.node is None:
                raise
            return self._cut({error.node})
        except _errors.NotFoundError as error:
            missing = {node for node in self._graph.nodes if _command_of(node) and f"'{_command_of(node)}'" in str(error)}
            if settings.whole or not missing:
                raise
            return self._cut(missing)
        self._ready[key] = made
        return made

    def _for_any_size(self, arguments):
        """One program for all sizes that PyTorch left open, once there are many: those of few sizes are faster, and compiled for each."""
        if self._open is None and len(self._ready) >= _FEW and all(isinstance(each, torch.Tensor) or type(each) is int for each in arguments):
            try:
                self._open = OpenProgram(self._graph, arguments, device_for([each for each in arguments if isinstance(each, torch.Tensor)], self._settings.device),
                                         self._settings.libraries, self._settings.flags)
            except Exception as error:  # Whatever JAX cannot tell of sizes, or a row: each size has its program, as before.
                _log.info("no program for any size: %s", error)
                self._open = False
        return self._open.of(arguments) if self._open else None

    # Cutting ---------------------------------------------------------------------------------------------------------

    def _cut(self, left):
        """Steps: programs at even levels, what is left at odd ones. A node stands behind what it reads."""
        levels, last = {}, 1
        for node in self._graph.nodes:
            if node.op != "call_function":
                continue
            level = max((levels[each] for each in node.all_input_nodes if each in levels), default=0)
            if node.target is operator.getitem and node.args[0] in levels:
                level = levels[node.args[0]]
            elif level % 2 != (node in left):
                level += 1
            if node in left:
                level = last = max(level, last)
                _tell(node)
            levels[node] = level
        self._results = next(node for node in reversed(self._graph.nodes) if node.op == "output").args[0]
        self._steps = [self._step(level, levels) for level in sorted(set(levels.values()))]  # Last: other threads look for them.
        return None

    def _step(self, level, levels):
        """(what runs, the nodes that it reads, those that it makes for others)."""
        nodes = [node for node, own in levels.items() if own == level]
        inputs, made = {}, []
        for node in nodes:
            inputs.update(dict.fromkeys(each for each in node.all_input_nodes if each.op != "get_attr" and levels.get(each) != level))
            if any(levels.get(user) != level for user in node.users):
                made.append(node)
        run = _Left(self._module, nodes, list(inputs), made) if level % 2 else self._part_of(nodes, list(inputs), made)
        return run, list(inputs), made

    def _part_of(self, nodes, inputs, made):
        graph, known = torch.fx.Graph(), {}
        for node in inputs:
            known[node] = graph.placeholder(node.name)
            known[node].meta = dict(node.meta)
        for node in nodes:
            for each in node.all_input_nodes:
                if each.op == "get_attr" and each not in known:
                    known[each] = graph.node_copy(each)
            known[node] = graph.node_copy(node, known.__getitem__)
        graph.output(tuple(known[node] for node in made))
        module = torch.fx.GraphModule(self._module, graph)
        return Part(module, module.graph, self._settings)

    def _stepped(self, arguments):
        values = dict(zip((node for node in self._graph.nodes if node.op == "placeholder"), arguments, strict=True))
        del arguments
        wanted = {}
        torch.fx.node.map_arg(self._results, lambda node: wanted.setdefault(node, len(self._steps)))
        for i, (_, inputs, _) in enumerate(self._steps):
            wanted.update((node, max(i, wanted.get(node, 0))) for node in inputs)
        for i, (run, inputs, made) in enumerate(self._steps):
            given = [values[node] for node in inputs]
            for node in [node for node in values if wanted.get(node, -1) <= i]:
                del values[node]  # What nobody reads any more.
            values.update(zip(made, run(given), strict=True))
        for node in wanted:
            if node.op == "get_attr":
                values[node] = _held(self._module, node)
        return list(torch.fx.node.map_arg(self._results, values.__getitem__))


class _Left:
    """Operations that PyTorch runs, one by one."""

    def __init__(self, module, nodes, inputs, made):
        self._module, self._nodes, self._inputs, self._made = module, nodes, inputs, made

    def __call__(self, given):
        values = dict(zip(self._inputs, given, strict=True))
        given.clear()
        with torch.no_grad():
            for node in self._nodes:
                for each in node.all_input_nodes:
                    if each.op == "get_attr" and each not in values:
                        values[each] = _held(self._module, each)
                arguments, keywords = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
                values[node] = node.target(*arguments, **keywords)
        return [values[node] for node in self._made]


def _is_taken(node):
    """Whether a program has the element types of a value, which it has not of floats of 8 bits."""
    try:
        for each in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if isinstance(each, torch.Tensor):
                jax_type(each.dtype)
    except TypeError:
        return False
    return True


def _held(module, node):
    for part in node.target.split("."):
        module = getattr(module, part)
    return module


def _command_of(node):
    is_operator = node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    return f"{node.target.namespace}.{node.target._opname}" if is_operator else ""


def _tell(node):
    """Once for each operator: what costs a program its wholeness, and where the model asks for it."""
    name = str(node.target)
    if node.target is not operator.getitem and name not in _told and getattr(node.target, "__name__", "") not in _EFFECTS:
        _told.add(name)
        _log.warning(said(node, f"{name} has no form in programs: PyTorch runs it between two of them"))
