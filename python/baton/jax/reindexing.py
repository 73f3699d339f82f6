"""Slices, reversals, repetitions and concatenations of one tensor, as padding by reflection and rolls along several dimensions: each element
of what comes out is one of the tensor, found along each dimension by a table. JAX writes them as a copy of the whole for each side.

Blocks of threads read by the tables in one kernel; for everybody else each dimension becomes one concatenation of its runs.
"""
import numpy as np
from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .gathering import generated
from .on_cores import call_either
from .sorting import replace

RUNS_MAX = 16  # Of one dimension.
SIZE_MAX = 1 << 20


class _Read:
    """Elements of `source`: for each dimension of a value, which one of the source its table is of, or None, and the table."""

    def __init__(self, source, lines, joins):
        self.source, self.lines, self.joins = source, lines, joins

    @classmethod
    def whole(cls, value):
        return cls(value, [(i, np.arange(size)) for i, size in enumerate(shape_of(value))], 0)


def lower_reindexing(operations, module):
    if sum(op.name == "stablehlo.concatenate" for op in operations) < 2:
        return
    reads = {}
    for op in operations:
        if op.name in FOLLOWED and not has_unknown_sizes(*op.operands, *op.results) and 0 not in shape_of(op.results[0]):
            made = FOLLOWED[op.name](op, *(reads.get(each) or _Read.whole(each) for each in op.operands))
            if made is not None and max((len(table) for _, table in made.lines), default=1) <= SIZE_MAX:
                reads[op.results[0]] = made
    ends = [op for op in operations if op.name == "stablehlo.concatenate" and _is_end(op, reads)]
    for op in ends:
        read = reads[op.results[0]]
        runs = [_runs(table) for _, table in read.lines]
        if [i for i, _ in read.lines] == list(range(len(shape_of(read.source)))) and max(map(len, runs)) <= RUNS_MAX:
            _write(op, module, read, runs)


def _is_end(op, reads):
    """Whether it joins parts of what others joined, and none that is followed joins it."""
    read = reads.get(op.results[0])
    if read is None or read.joins < 2:
        return False
    todo, seen = [op.results[0]], set()
    while todo:
        for use in todo.pop().uses:
            user = use.owner.operation
            if user.results and user.results[0] in reads and user.results[0] not in seen:
                if user.name == "stablehlo.concatenate":
                    return False
                seen.add(user.results[0])
                todo.append(user.results[0])
    return True


def _slice(op, a):
    begin, end, step = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("start_indices", "limit_indices", "strides"))
    return _Read(a.source, [(i, table[b:e:s]) for (i, table), b, e, s in zip(a.lines, begin, end, step)], a.joins)


def _reverse(op, a):
    turned = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    return _Read(a.source, [(i, table[::-1] if at in turned else table) for at, (i, table) in enumerate(a.lines)], a.joins)


def _broadcast(op, a):
    places, shape = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])), shape_of(op.results[0])
    if places != sorted(places):
        return None
    lines = [(None, np.zeros(size, np.int64)) for size in shape]
    for place, (i, table) in zip(places, a.lines):
        lines[place] = (i, np.broadcast_to(table, shape[place]))
    return _Read(a.source, lines, a.joins)


def _reshape(op, a):
    """One that drops or adds dimensions of one element, or makes a repetition of a line's one element part of the line."""
    lines = []
    given = [line for line in a.lines if len(line[1]) > 1]
    wanted = [size for size in shape_of(op.results[0]) if size > 1]
    if [len(table) for _, table in given] != wanted:
        return None
    owed = [line for line in a.lines if len(line[1]) == 1 and line[0] is not None]
    for size in shape_of(op.results[0]):
        lines.append(given.pop(0) if size > 1 else (None, np.zeros(1, np.int64)))
    # A line of one element belongs to a repetition, or to a dimension of one, in the order of the source's.
    for i, table in owed:
        free = [at for at, (mine, _) in enumerate(lines) if mine is None and _fits(lines, at, i)]
        if not free:
            return None
        at = free[0]
        lines[at] = (i, np.broadcast_to(table, len(lines[at][1])))
    return _Read(a.source, lines, a.joins)


def _fits(lines, at, i):
    before = [mine for mine, _ in lines[:at] if mine is not None]
    behind = [mine for mine, _ in lines[at + 1:] if mine is not None]
    return all(each < i for each in before) and all(each > i for each in behind)


def _concatenate(op, *parts):
    at, first = op.attributes["dimension"].value, parts[0]
    for each in parts:
        same = each.source == first.source and [i for i, _ in each.lines] == [i for i, _ in first.lines]
        if not same or any(k != at and not np.array_equal(a, b) for k, ((_, a), (_, b)) in enumerate(zip(each.lines, first.lines))):
            return None
    lines = list(first.lines)
    lines[at] = (lines[at][0], np.concatenate([each.lines[at][1] for each in parts]))
    return _Read(first.source, lines, 1 + max(each.joins for each in parts))


FOLLOWED = {"stablehlo.slice": _slice, "stablehlo.reverse": _reverse, "stablehlo.broadcast_in_dim": _broadcast, "stablehlo.reshape": _reshape,
            "stablehlo.concatenate": _concatenate}


def _runs(table):
    """Of (begin, count, step): numbers that go up or down by a step, or stay."""
    runs, at = [], 0
    while at < len(table) and len(runs) <= RUNS_MAX:
        step = int(table[at + 1] - table[at]) if at + 1 < len(table) else 1
        rest = np.flatnonzero(np.diff(table[at:]) != step)
        count = int(rest[0]) + 1 if len(rest) else len(table) - at
        runs.append((int(table[at]), count, step))
        at += count
    return runs


def _write(op, module, read, runs):
    b, element = Builder.before(op), element_of(read.source)

    def joined(inner, given):
        value = given[0]
        for dimension, mine in enumerate(runs):
            if mine != [(0, shape_of(value)[dimension], 1)]:
                value = inner.concatenate([_part(inner, value, dimension, *each) for each in mine], dimension)
        return [value]

    def by_tables(inner, given):
        return [_by_tables(inner, given[0], [table for _, table in read.lines], runs)]

    replace(op, call_either(b, module, "reindexed", [read.source], [tensor_type(shape_of(op.results[0]), element)], joined, on_blocks=by_tables))


def _part(b, value, dimension, begin, count, step):
    shape = shape_of(value)
    low, high = [0] * len(shape), list(shape)
    if step == 0 or count == 1:
        low[dimension], high[dimension] = begin, begin + 1
        return b.broadcast(b.slice(value, low, high), [count if i == dimension else size for i, size in enumerate(shape)], range(len(shape)))
    last = begin + (count - 1) * step
    low[dimension], high[dimension] = min(begin, last), max(begin, last) + 1
    part = b.slice(value, low, high, [abs(step) if i == dimension else 1 for i in range(len(shape))])
    return part if step > 0 else b.reverse(part, [dimension])


def _by_tables(b, value, tables, runs):
    element = element_of(value)
    looked_up = [i for i, mine in enumerate(runs) if mine != [(0, shape_of(value)[i], 1)]]

    def element_at(inner, places, *found):
        for i, each in zip(looked_up, found):
            places[i] = inner.value("arith.index_cast", [each], ir.IndexType.get())
        return inner.value("tensor.extract", [value, *places], element)

    made = tensor_type([len(table) for table in tables], element)
    return generated(b, made, (), element_at, [(b.numbers(tables[i]), [i]) for i in looked_up])
