"""Fourier transforms as kernels of cores: of columns side by side, and of one line after the other (fourier_on_cores.py)."""
import numpy as np
from jaxlib.mlir import ir

from .fourier_real import before_line, behind_line, halves_of
from .fourier_stages import Stages, butterfly, chirps, roots, wide_enough
from .vectors import Flat, Kernel

MEMORY_BYTES = 128 * 1024  # Of complex numbers that a stage reads; another one writes as many.


def lanes_of(*sizes):
    """As many as there are in all of these, and at most eight."""
    return 1 << min(3, *(size.bit_length() - 1 for size in sizes))


def fits(numbers, element):
    return numbers * (16 if isinstance(element, ir.F64Type) else 8) <= MEMORY_BYTES


def columns(b, element, given, form, sizes, sign, scale=1.0, is_first=False):
    """Transforms along the second of three sizes; `is_first`: of lines of two sizes, whose rows come next, numbers are turned by what their
    places say."""
    outer, length, inner = sizes
    lanes = lanes_of(inner)
    while lanes > 1 and not fits(length * lanes, element):
        lanes //= 2
    kernel = Kernel(b, element, lanes)
    t, source, target = kernel.t, kernel.source(given, *sizes), kernel.target(form, *sizes)
    turn = _turns_of_columns(kernel, sizes, sign, scale) if is_first else lambda x, k, block: scaled(t, x, scale)
    stages = Stages(t, length, sign, kernel.table)
    memories = [t.memory(length) for _ in stages.radices[1:]][:2]

    def unit(number, carried):
        a, block = t.divided(number, t.blocks(inner))
        c = t.block(block, inner)
        return stages.run(lambda j: source.load(t, a, j, c), lambda carried, x, k: target.store(t, carried, turn(x, k, block), a, k, c), carried, memories)
    return kernel.call(outer * t.blocks(inner), length * t.lanes, unit, target)


def _turns_of_columns(kernel, sizes, sign, scale):
    """The turn of a block's first column times those of the columns behind it: a table of all numbers would be as large as they are."""
    _, rows, beside = sizes
    t, k, whole = kernel.t, np.arange(rows), rows * beside
    begins = np.minimum(np.arange(t.blocks(beside)) * t.lanes, beside - t.lanes)
    heads = kernel.table(roots(whole, sign, np.outer(k, begins)))
    behind = kernel.turns(scale * roots(whole, sign, np.outer(k, np.arange(t.lanes))))

    def turn(x, k, block):
        head = t.number_of(heads, 0, k, block), t.number_of(heads, 1, k, block)
        return t.multiply(x, t.multiply(behind.load(t, t.index(0), k, t.index(0)), head))
    return turn


def scaled(t, x, scale):
    return x if scale == 1 else t.scale(x, t.splat(scale))


class LineStages:
    """Of a line whose length is a multiple of eight: lanes are eight columns, and rows of eight are the last stage."""

    def __init__(self, kernel, length, sign, scale=1.0):
        self.t, self.sign, self.eighth = kernel.t, sign, length // 8
        self.turns = kernel.turns(scale * roots(length, sign, np.outer(np.arange(self.eighth), np.arange(8))))
        self.stages = Stages(self.t, self.eighth, sign, kernel.table)
        self.memories = [self.t.memory(self.eighth) for _ in range(2)]

    def run(self, load, store, carried):
        """`load` gets the number of a row of eight, `store` what is carried, lanes, and where these stand: in which eighth, and the place there."""
        t, none = self.t, self.t.index(0)
        turned = self.memories[(len(self.stages.radices) - 1) % 2]

        def store_turned(carried, x, k):
            turned.store(t, t.multiply(x, self.turns.load(t, none, k, none)), k)
            return carried
        self.stages.run(load, store_turned, [], self.memories)

        def rows(block, carried):
            k = t.block(block, self.eighth)
            taken = [turned.load(t, t.sum(k, t.index(i)) if i else k) for i in range(8)]
            for i, x in enumerate(butterfly(t, t.transposed_numbers(taken), self.sign)):
                carried = store(carried, x, i, k)
            return carried
        return t.repeat(t.blocks(self.eighth), carried, rows)

    def storing(self, whole):
        """In a line of memory."""
        def store(carried, x, i, k):
            whole.store(self.t, x, self.t.sum(k, self.t.index(self.eighth * i)) if i else k)
            return carried
        return store


def line(b, element, given, form, outer, length, sign, scale=1.0, real=None):
    """Transforms of lines whose length is a multiple of eight; of real lines of twice that length where `real` says so."""
    kernel, eighth = Kernel(b, element, 8), length // 8
    t, to_real, from_real = kernel.t, real == "IRFFT", real == "RFFT"
    source = kernel.source(given, *((outer, 1, length + 1) if to_real else (outer, eighth, 8)))
    target = kernel.target(form, *((outer, 1, length + 1) if from_real else (outer, 8, eighth)))
    halves = kernel.turns(halves_of(real, length)[:, None]) if real else None
    stages = LineStages(kernel, length, sign, scale)
    whole, none = Flat(t, length + 1) if real else None, t.index(0)

    def unit(a, carried):
        if to_real:
            before_line(t, length, lambda k: source.load(t, a, none, k), whole, halves)

        def load(j):
            return whole.load(t, t.times_index(j, 8)) if to_real else source.load(t, a, j, none)
        if not from_real:
            return stages.run(load, lambda carried, x, i, k: target.store(t, carried, x, a, t.index(i), k), carried)
        stages.run(load, stages.storing(whole), [])
        return behind_line(t, length, whole, halves, target, a, carried)
    return kernel.call(outer, length, unit, target)


def convolved_line(b, element, given, form, outer, length, kept, sign, scale=1.0):
    """Transforms of lines of any length: by 2nk = n² + k² - (k - n)² one is a convolution with a chirp (Bluestein), done by transforms."""
    kernel, wide = Kernel(b, element, 8), wide_enough(length)
    t, source, target = kernel.t, kernel.source(given, outer, 1, length), kernel.target(form, outer, 1, kept)
    chirp, spectrum = chirps(length, wide, sign)
    chirp, spectrum = (kernel.turns(np.stack([each.real, each.imag])[:, None]) for each in (chirp, spectrum * scale / wide))
    stages, whole, none = LineStages(kernel, wide, -1), Flat(t, wide), t.index(0)
    in_line = stages.storing(whole)

    def turned_round(x):
        return x[1], x[0]

    def unit(a, carried):
        def nothing(block, carried):
            whole.store(t, (t.splat(0), t.splat(0)), t.sum(t.index(length - 8), t.block(block, wide - length + 8)))
            return carried

        def take(block, carried):
            j = t.block(block, length)
            whole.store(t, t.multiply(source.load(t, a, none, j), chirp.load(t, none, none, j)), j)
            return carried

        def give(block, carried):
            k = t.block(block, kept)
            x = t.multiply(turned_round(whole.load(t, k)), chirp.load(t, none, none, k))
            return target.store(t, carried, x, a, none, k)

        def times_spectrum(carried, x, i, k):
            place = t.sum(k, t.index(stages.eighth * i)) if i else k
            return in_line(carried, turned_round(t.multiply(x, spectrum.load(t, none, none, place))), i, k)

        def load(j):
            return whole.load(t, t.times_index(j, 8))
        t.repeat(t.blocks(wide - length + 8), [], nothing)
        t.repeat(t.blocks(length), [], take)
        stages.run(load, times_spectrum, [])
        stages.run(load, in_line, [])
        return t.repeat(t.blocks(kept), carried, give)
    return kernel.call(outer, 4 * wide, unit, target)
