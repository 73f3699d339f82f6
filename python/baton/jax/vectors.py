"""Kernels of cores on vectors of neighbouring elements: text (factorizations_on_cores.py) with complex numbers as pairs of vectors.

An imaginary part that is None is zero. Memory that a kernel has for itself is a matrix with a row for each vector.
"""
import numpy as np
from jaxlib.mlir import ir

from .build import tensor_type
from .factorizations_on_cores import Text
from .on_cores import call_kernel

WORK = 16 * 1024  # Numbers that a workgroup is for at least.
WORKGROUPS_MAX = 64
CONTRACTED = "fastmath<contract>"  # A product and the sum that takes it may be one operation.


class Vectors(Text):
    def __init__(self, element, lanes):
        super().__init__(element)
        self.lanes, self.kind, self.splats = lanes, f"vector<{lanes}x{element}>", {}

    # Numbers -----------------------------------------------------------------------------------------------------------

    def both(self, name, a, b):
        return self.value(f"arith.{name} {a}, {b} {CONTRACTED} : {self.kind}")

    def plus(self, a, b):
        return self.both("addf", a, b) if a and b else a or b

    def less(self, a, b):
        return self.both("subf", a, b) if a and b else a or self.negative(b)

    def negative(self, a):
        return a and self.value(f"arith.negf {a} : {self.kind}")

    def scaled(self, a, factor):
        return a and self.both("mulf", a, factor)

    def splat(self, number):
        """A constant; they stand at the head of the function."""
        return self.splats.setdefault(float(number), f"%splat{len(self.splats)}")

    def zero_for(self, a):
        return a or self.splat(0)

    def add(self, x, y):
        return self.plus(x[0], y[0]), self.plus(x[1], y[1])

    def subtract(self, x, y):
        return self.less(x[0], y[0]), self.less(x[1], y[1])

    def scale(self, x, factor):
        return self.scaled(x[0], factor), self.scaled(x[1], factor)

    def multiply(self, x, y):
        """Of which y has both parts."""
        return (self.less(self.scaled(x[0], y[0]), self.scaled(x[1], y[1])),
                self.plus(self.scaled(x[0], y[1]), self.scaled(x[1], y[0])))

    def turn(self, x, number):
        """Times a constant of size one."""
        for quarter, made in ((1, lambda: x), (-1, lambda: (self.negative(x[0]), self.negative(x[1]))),
                              (1j, lambda: (self.negative(x[1]), x[0])), (-1j, lambda: (x[1], self.negative(x[0])))):
            if abs(number - quarter) < 1e-12:
                return made()
        return self.multiply(x, (self.splat(number.real), self.splat(number.imag)))

    # Lanes -------------------------------------------------------------------------------------------------------------

    def shuffle(self, a, b, order):
        return self.value(f"vector.shuffle {a}, {b} {list(order)} : {self.kind}, {self.kind}")

    def broadcast(self, scalar):
        return self.value(f"vector.broadcast {scalar} : {self.element} to {self.kind}")

    def without_first(self, a):
        """With zero in the first lane."""
        return self.shuffle(self.splat(0), a, [0, *range(self.lanes + 1, 2 * self.lanes)])

    def transposed(self, rows):
        """As many vectors as they have lanes. Those of eight go by what AVX has one instruction for."""
        rows, lanes = list(rows), self.lanes
        if lanes == 8:
            halves = [[0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]]
            pairs = [[0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]]
            ends = [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]
            rows = [self.shuffle(rows[i], rows[i + 1], each) for i in range(0, 8, 2) for each in halves]
            rows = [self.shuffle(rows[4 * i + j], rows[4 * i + j + 2], each) for i in (0, 1) for j in (0, 1) for each in pairs]
            return [self.shuffle(rows[j], rows[j + 4], each) for each in ends for j in range(4)]
        step = 1
        while step < lanes:
            for i in [i for i in range(lanes) if not i & step]:
                a, b = rows[i], rows[i + step]
                rows[i] = self.shuffle(a, b, [lanes + l - step if l & step else l for l in range(lanes)])
                rows[i + step] = self.shuffle(a, b, [lanes + l if l & step else l + step for l in range(lanes)])
            step *= 2
        return rows

    def transposed_numbers(self, rows):
        return list(zip(*(self.transposed(each) for each in zip(*rows))))

    # Places ------------------------------------------------------------------------------------------------------------

    def sum(self, *indices):
        made = indices[0]
        for each in indices[1:]:
            made = self.value(f"arith.addi {made}, {each} : index")
        return made

    def times_index(self, a, number):
        return a if number == 1 else self.value(f"arith.muli {a}, {self.index(number)} : index")

    def divided(self, a, number):
        """What is full, and the rest."""
        if number == 1:
            return a, self.index(0)
        return tuple(self.value(f"arith.{name} {a}, {self.index(number)} : index") for name in ("divui", "remui"))

    def block(self, number, size):
        """Where a block of lanes begins: the last one overlaps the one before it."""
        begin = self.times_index(number, self.lanes)
        return begin if size % self.lanes == 0 else self.value(f"arith.minui {begin}, {self.index(size - self.lanes)} : index")

    def blocks(self, size):
        return -(-size // self.lanes)

    def memory(self, rows):
        """For complex numbers."""
        kind = f"memref<{rows}x{self.lanes}x{self.element}>"
        return Memory(*(self.value(f"memref.alloc() : {kind}") for _ in range(2)), kind)

    def number_of(self, table, part, *place):
        """A part of a number of a table, for all lanes."""
        return self.broadcast(self.at(table, self.index(part), *place))

    # Loops -------------------------------------------------------------------------------------------------------------

    def repeat(self, count, carried, body, workgroups=None):
        """`body` gets the number of the turn, and of what is carried the names and types; it gives those that are handed on."""
        if count == 1 and workgroups is None:
            return body(self.index(0), carried)
        index, result = self.name(), self.name()
        inner = [(self.name(), kind) for _, kind in carried]
        takes = ", ".join(f"{mine} = {value}" for (mine, _), (value, _) in zip(inner, carried))
        kinds = ", ".join(kind for _, kind in carried)
        begin, end, one = self.index(0), self.index(count), self.index(1)
        head = f"scf.for {index} = {begin} to {end} step {one}"
        self.line(f"{result}:{len(carried)} = {head} iter_args({takes}) -> ({kinds}) {{" if carried else f"{head} {{")
        self.depth += 1
        handed = body(index, inner)
        if carried:
            self.line(f"scf.yield {', '.join(value for value, _ in handed)} : {kinds}")
        self.depth -= 1
        self.line("}" if workgroups is None else f"}} {{baton.workgroups = {workgroups} : i64}}")
        return [(f"{result}#{i}", kind) for i, (_, kind) in enumerate(carried)]

    def function(self, name, arguments, results):
        heads = [f"  {named} = arith.constant dense<{number!r}> : {self.kind}" for number, named in self.splats.items()]
        return super().function(name, arguments, results).replace("{baton.one_kernel} {", "\n".join(["{baton.one_kernel} {", *heads]), 1)


class Memory:
    """Rows of complex numbers, one for each lane."""

    def __init__(self, real, imaginary, kind):
        self.parts, self.kind = (real, imaginary), kind

    def load(self, t, row):
        return tuple(t.value(f"vector.load {each}[{row}, {t.index(0)}] : {self.kind}, {t.kind}") for each in self.parts)

    def store(self, t, x, row):
        for part, each in zip(x, self.parts):
            t.line(f"vector.store {t.zero_for(part)}, {each}[{row}, {t.index(0)}] : {self.kind}, {t.kind}")


class Flat:
    """Complex numbers, one after the other."""

    def __init__(self, t, count):
        self.kind = f"memref<{count}x{t.element}>"
        self.parts = [t.value(f"memref.alloc() : {self.kind}") for _ in range(2)]

    def load(self, t, place):
        return tuple(t.value(f"vector.load {each}[{place}] : {self.kind}, {t.kind}") for each in self.parts)

    def store(self, t, x, place):
        for part, each in zip(x, self.parts):
            t.line(f"vector.store {part}, {each}[{place}] : {self.kind}, {t.kind}")

    def copy(self, t, source, target):
        """One number."""
        for each in self.parts:
            t.line(f"memref.store {t.value(f'memref.load {each}[{t.index(source)}] : {self.kind}')}, {each}[{t.index(target)}] : {self.kind}")


class Numbers:
    """A tensor of three dimensions, or two for real and imaginary parts, of which lanes go along the last; `form` says what it holds:
    parts, the real ones alone, words (a complex number of two f32 in one of 64 bits), or pairs (real numbers, two of which are one complex one)."""

    def __init__(self, form, tensors):
        self.form, self.tensors = form, tensors

    def load(self, t, a, b, c):
        if self.form == "parts":
            read = [self._read(t, each, t.kind, a, b, c) for each in self.tensors]
            return (*read, None)[:2]
        (tensor,) = self.tensors
        wide = f"vector<{2 * t.lanes}x{t.element}>"
        if self.form == "words":
            words = f"vector<{t.lanes}xi64>"
            both = t.value(f"vector.bitcast {self._read(t, tensor, words, a, b, c)} : {words} to {wide}")
        else:
            both = self._read(t, tensor, wide, a, b, t.times_index(c, 2))
        return tuple(t.value(f"vector.shuffle {both}, {both} {list(range(first, 2 * t.lanes, 2))} : {wide}, {wide}") for first in (0, 1))

    def store(self, t, carried, x, a, b, c):
        """What is carried, the tensors that are written."""
        if self.form in ("parts", "real"):
            return [self._write(t, each, part, t.kind, a, b, c) for each, part in zip(carried, (x[0], t.zero_for(x[1])))]
        order, wide = [i // 2 + t.lanes * (i % 2) for i in range(2 * t.lanes)], f"vector<{2 * t.lanes}x{t.element}>"
        both = t.value(f"vector.shuffle {x[0]}, {t.zero_for(x[1])} {order} : {t.kind}, {t.kind}")
        if self.form == "pairs":
            return [self._write(t, carried[0], both, wide, a, b, t.times_index(c, 2))]
        words = f"vector<{t.lanes}xi64>"
        return [self._write(t, carried[0], t.value(f"vector.bitcast {both} : {wide} to {words}"), words, a, b, c)]

    @staticmethod
    def _read(t, tensor, kind, *place):
        element = kind[:-1].split("x")[1]
        padding = t.value(f"arith.constant 0{'' if element[0] == 'i' else '.0'} : {element}")
        return t.value(f"vector.transfer_read {tensor[0]}[{', '.join(place)}], {padding} {{in_bounds = [true]}} : {tensor[1]}, {kind}")

    @staticmethod
    def _write(t, tensor, value, kind, *place):
        return t.value(f"vector.transfer_write {value}, {tensor[0]}[{', '.join(place)}] {{in_bounds = [true]}} : {kind}, {tensor[1]}"), tensor[1]


class Kernel:
    """Text of a kernel, and the operands that a call of it passes."""

    def __init__(self, b, element, lanes):
        self.b, self.t, self.element = b, Vectors(str(element), lanes), element
        self.operands, self.arguments, self.results = [], [], []

    def operand(self, value):
        self.operands.append(value)
        self.arguments.append((f"%operand{len(self.operands)}", str(value.type)))
        return self.arguments[-1]

    def table(self, numbers):
        kind = np.float64 if isinstance(self.element, ir.F64Type) else np.float32
        attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(numbers, kind))
        return self.operand(self.b.value("stablehlo.constant", [], attribute.type, {"value": attribute}))

    def turns(self, numbers):
        """A matrix of complex numbers, of which lanes go along rows."""
        return Numbers("parts", [self.table(each[None]) for each in numbers])

    def source(self, given, *sizes):
        """A form and its values, by the three sizes that the kernel sees them by."""
        form, values = given
        return Numbers(form, [self.operand(self.b.reshape(each, _sizes(form, sizes))) for each in values])

    def target(self, form, *sizes):
        element = ir.IntegerType.get_signless(64) if form == "words" else self.element
        self.results = [tensor_type(_sizes(form, sizes), element)] * (2 if form == "parts" else 1)
        return Numbers(form, [self.t.new(str(each)) for each in self.results])

    def call(self, units, numbers, body, target):
        """`body` writes what is done for a unit, which has so many numbers; gives the form and the results."""
        workgroups = max(1, min(units * numbers // WORK, units, WORKGROUPS_MAX))
        made = self.t.repeat(units, target.tensors, body, workgroups if workgroups > 1 else None)
        return target.form, call_kernel(self.b, "kernel", self.operands, self.results,
                                        lambda name: self.t.function(name, self.arguments, made))


def _sizes(form, sizes):
    return [*sizes[:2], sizes[2] * (2 if form == "pairs" else 1)]
