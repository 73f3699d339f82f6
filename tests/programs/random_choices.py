"""Chooses the nodes of a random program: which operation, on which tensors, in which shape."""
import random

import numpy as np

from random_moves import ArgMax, Arithmetic, Cast, Concat, ExtractSlice, InsertSlice, Pad, Reshape
from random_nodes import FLOAT_OPERATIONS, FLOATS, INTEGER_OPERATIONS, INTEGERS, Axis, Generic, Rejected, Tensor

SMALL = [1, 2, 3, 4, 5, 7, 8]
LARGE = [15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 257, 512, 1000]
ELEMENTS_MAX = 150_000
LOOPS_MAX = 400_000
KINDS = ["f32"] * 6 + ["f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i32", "i64"]


class Chooser:
    def __init__(self, source, program):
        self.source, self.program = source, program
        self.numbers = np.random.default_rng(source.getrandbits(32))
        self.begins = random.Random(repr(source.getstate()))  # Its own: other choices of a seed stay what they were.
        self.count = 0  # Nodes that are no arguments.
        self.kind = source.choice(KINDS)  # Most tensors of a program have one type, so that they meet.

    # Tensors ----------------------------------------------------------------------------------------------------------

    def shape(self, rank=None):
        rank = self.source.choice([1, 1, 2, 2, 2, 3, 3, 4, 5]) if rank is None else rank
        while True:
            shape = [self.source.choice(LARGE if self.source.random() < 0.4 else SMALL) for _ in range(rank)]
            if np.prod(shape) <= ELEMENTS_MAX:
                return shape

    def argument(self, shape, kind=None):
        kind = kind or self.kind
        if kind in FLOATS:
            # Few bits, so that each type holds them.
            value = self.numbers.integers(-32, 33, shape) / 16.0
            return self.program.add(Tensor(kind, value, np.zeros(value.shape)))[0]
        if kind == "i1":
            return self.program.add(Tensor(kind, self.numbers.integers(0, 2, shape).astype(bool)))[0]
        bits = np.iinfo(INTEGERS[kind])
        wide = self.source.random() < 0.3
        value = self.numbers.integers(bits.min if wide else max(bits.min, -20), bits.max if wide else 20, shape)
        return self.program.add(Tensor(kind, value.astype(INTEGERS[kind])))[0]

    def all(self, test=lambda tensor: True):
        return [(i, j) for i, made in enumerate(self.program.tensors) for j, tensor in enumerate(made) if test(tensor)]

    def some(self, test=lambda tensor: True):
        """A tensor that there is, most often a late one, or a new argument."""
        there = self.all(lambda tensor: tensor.shape != () and tensor.value.size > 0 and test(tensor))
        if not there or self.source.random() < 0.15:
            place = self.argument(self.shape())
            return place if test(self.program.tensor(place)) else self.source.choice(there) if there else self.reject()
        return there[-1] if self.source.random() < 0.4 else self.source.choice(there)

    def reject(self):
        raise Rejected()

    def like(self, shape, kind):
        """A tensor of this shape: one that there is, or an argument."""
        there = self.all(lambda tensor: tensor.kind == kind and list(tensor.shape) == list(shape))
        return self.source.choice(there) if there and self.source.random() < 0.7 else self.argument(shape, kind)

    # Steps --------------------------------------------------------------------------------------------------------------

    def step(self):
        kinds = [self.elementwise] * 5 + [self.reduction] * 4 + [self.product] * 2 + [
            self.whole, self.cast, self.extract, self.insert, self.concat, self.pad, self.collapse, self.expand, self.argmax]
        node = self.source.choice(kinds)()
        self.program.add(node)
        self.count += 1

    def expression(self, kind, inputs, loops, depth=0):
        chance = self.source.random()
        if depth >= 3 or chance < 0.3 + 0.15 * depth:
            if inputs and self.source.random() < 0.8:
                return ("in", self.source.randrange(inputs))
            if loops and kind not in ("i8", "i1") and self.source.random() < 0.3:
                return ("index", self.source.randrange(loops))
            return ("constant", self.source.randint(0, 1) if kind == "i1" else self.source.randint(-3, 3))
        table = FLOAT_OPERATIONS if kind in FLOATS else INTEGER_OPERATIONS
        name = self.source.choice([each for each in table if kind != "i1" or each[-2:] not in ("si", "ui")])
        return (name, *(self.expression(kind, inputs, loops, depth + 1) for _ in range(table[name])))

    def axes(self, sizes, whole):
        """How an operand is read: all loops or some, in any order, backwards, in steps."""
        loops = list(range(len(sizes)))
        if not whole:
            loops = [loop for loop in loops if self.source.random() < 0.6]
        self.source.shuffle(loops) if self.source.random() < 0.4 else None
        axes = []
        for loop in loops:
            chance = self.source.random()
            if chance < 0.12:
                axes.append(Axis(loop, -1, sizes[loop] - 1))
            elif chance < 0.2 and sizes[loop] > 1:
                axes.append(Axis(loop, self.source.choice([2, 3]), self.source.choice([0, 1])))
            else:
                axes.append(Axis(loop))
        return axes

    def read_shape(self, axes, sizes):
        return [max(axis.offset, axis.offset + axis.stride * (sizes[axis.loop] - 1)) + 1 for axis in axes]

    def generic(self, sizes, base, outputs, combiners, kind):
        """With `base` as its first operand when there is one, which is read along all of the loops."""
        operands, axes = ([base], [[Axis(loop) for loop in range(len(sizes))]]) if base else ([], [])
        for _ in range(self.source.choice([0, 1, 1, 2])):
            # The first operand of all says how large the loops are.
            read = self.axes(sizes, whole=not operands)
            if not operands:
                read = [Axis(axis.loop) for axis in read]
            shape = self.read_shape(read, sizes)
            if np.prod(shape) > ELEMENTS_MAX:
                raise Rejected()
            operands.append(self.like(shape, kind))
            axes.append(read)
        if not operands and any(combiners):
            raise Rejected()
        expressions = [self.expression(kind, len(operands), len(sizes)) for _ in outputs]
        begins = [self.begin(operands, [sizes[loop] for loop in order], kind, combiner) for order, combiner in zip(outputs, combiners)]
        return Generic(kind, list(sizes), operands, axes, outputs, expressions, combiners, begins)

    def begin(self, operands, shape, kind, combiner):
        """Where a reduction begins with a tensor: its number among the operands, to which it is added; else None."""
        if not combiner or self.begins.random() < 0.6:
            return None
        there = self.all(lambda tensor: tensor.kind == kind and list(tensor.shape) == list(shape))
        operands.append(self.begins.choice(there) if there and self.begins.random() < 0.7 else self.argument(shape, kind))
        return len(operands) - 1

    def elementwise(self):
        base = self.some()
        tensor = self.program.tensor(base)
        outputs = []
        for _ in range(self.source.choice([1, 1, 1, 2, 2, 3])):
            order = list(range(len(tensor.shape)))
            if self.source.random() < 0.25:
                self.source.shuffle(order)
            outputs.append(order)
        return self.generic(list(tensor.shape), base, outputs, [None] * len(outputs), tensor.kind)

    def reduction(self):
        base = self.some(lambda tensor: tensor.kind != "i1")
        tensor = self.program.tensor(base)
        rank = len(tensor.shape)
        gone = set(self.source.sample(range(rank), self.source.randint(1, rank)))
        kept = [loop for loop in range(rank) if loop not in gone]
        count = self.source.choice([1, 1, 1, 2, 2, 3])
        combiners = [self.source.choice(["add", "add", "max", "min"]) for _ in range(count)]
        orders = [self.source.sample(kept, len(kept)) if self.source.random() < 0.3 else kept for _ in range(count)]
        return self.generic(list(tensor.shape), base, orders, combiners, tensor.kind)

    def product(self):
        """Batches, rows, columns and what is summed over, each of none to two loops, in any order on either side."""
        kind = self.kind if self.kind != "i1" else "f32"
        groups, sizes = [], []
        for most, chance in ((2, 0.4), (2, 0.9), (2, 0.9), (2, 1)):  # batch, rows, columns, summed
            count = 0 if self.source.random() > chance else self.source.choice([1] * 5 + list(range(1, most + 1)))
            groups.append(list(range(len(sizes), len(sizes) + count)))
            sizes += [self.source.choice([1, 2, 3, 4, 5, 8, 16, 17, 33, 64]) for _ in range(count)]
        batch, rows, columns, summed = groups
        if np.prod(sizes) > LOOPS_MAX:
            raise Rejected()

        def order(loops):
            return self.source.sample(loops, len(loops)) if self.source.random() < 0.4 else loops

        axes = [[Axis(loop) for loop in order(batch + rows + summed)], [Axis(loop) for loop in order(batch + summed + columns)]]
        operands = [self.like([sizes[axis.loop] for axis in each], kind) for each in axes]
        multiply = ("arith.mulf" if kind in FLOATS else "arith.muli", ("in", 0), ("in", 1))
        return Generic(kind, sizes, operands, axes, [order(batch + rows + columns)], [multiply], ["add"])

    def whole(self):
        place = self.some()
        kind = self.program.tensor(place).kind
        table = FLOAT_OPERATIONS if kind in FLOATS else INTEGER_OPERATIONS
        name = self.source.choice([each for each in table if kind != "i1" or each[-2:] not in ("si", "ui")])
        return Arithmetic(name, [place] + [self.like(self.program.tensor(place).shape, kind) for _ in range(table[name] - 1)])

    def cast(self):
        place = self.some()
        source = self.program.tensor(place).kind
        kind = self.source.choice([each for each in set(KINDS) if each != source] and sorted(each for each in set(KINDS) if each != source))
        if source in FLOATS and (kind not in FLOATS or {source, kind} == {"f16", "bf16"}):
            raise Rejected()  # A rounded number falls to either side.
        if kind in FLOATS and source == "i1":
            raise Rejected()
        return Cast(kind, [place])

    def extract(self):
        place = self.some()
        offsets, sizes, strides = [], [], []
        for size in self.program.tensor(place).shape:
            stride = self.source.choice([1, 1, 1, 2, 3])
            offset = self.source.randrange(size)
            most = (size - offset - 1) // stride + 1
            offsets.append(offset)
            sizes.append(most if self.source.random() < 0.5 else self.source.randint(1, most))
            strides.append(stride)
        return ExtractSlice(offsets, sizes, strides, [place])

    def insert(self):
        node = self.extract()
        into = node.operands[0]
        return InsertSlice(node.offsets, node.sizes, node.strides, [into, self.like(node.sizes, self.program.tensor(into).kind)])

    def concat(self):
        place = self.some()
        tensor = self.program.tensor(place)
        dimension = self.source.randrange(len(tensor.shape))
        shape = list(tensor.shape)
        shape[dimension] = self.source.choice(SMALL)
        parts = [place, self.like(shape, tensor.kind)] + ([place] if self.source.random() < 0.3 else [])
        self.source.shuffle(parts)
        if sum(self.program.tensor(each).value.size for each in parts) > ELEMENTS_MAX:
            raise Rejected()
        return Concat(dimension, parts)

    def pad(self):
        place = self.some()
        tensor = self.program.tensor(place)
        low = [self.source.choice([0, 0, 1, 3]) for _ in tensor.shape]
        high = [self.source.choice([0, 0, 1, 2]) for _ in tensor.shape]
        return Pad(low, high, self.source.randint(0, 1), [place])

    def collapse(self):
        place = self.some(lambda tensor: len(tensor.shape) > 1)
        shape = list(self.program.tensor(place).shape)
        at = self.source.randrange(len(shape) - 1)
        groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(shape))]
        return Reshape(shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2:], groups, [place])

    def expand(self):
        place = self.some(lambda tensor: len(tensor.shape) < 5)
        shape = list(self.program.tensor(place).shape)
        at = self.source.randrange(len(shape))
        factor = self.source.choice([each for each in range(1, 9) if shape[at] % each == 0])
        groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i + 1] for i in range(at + 1, len(shape))]
        return Reshape(shape[:at] + [factor, shape[at] // factor] + shape[at + 1:], groups, [place])

    def argmax(self):
        exact = self.some(lambda tensor: tensor.kind != "i1" and (tensor.error is None or not tensor.error.any()))
        return ArgMax(self.source.randrange(len(self.program.tensor(exact).shape)), [exact])
