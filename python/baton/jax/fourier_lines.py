"""Fourier transforms as kernels of cores: of several lines at once (fourier_on_cores.py).

Squares of as many numbers of as many lines are turned in registers, on the way into memory and out of it.
"""
from .fourier_kernels import lanes_of, scaled
from .fourier_real import before_lanes, behind_lanes, halves_of
from .fourier_stages import Stages
from .vectors import Kernel


def lines(b, element, given, form, sizes, length, sign, scale=1.0, real=None, kept=None, lies_across=False):
    """Transforms of lines along the last of three sizes, several at a time. `length` is that of the transform, of `real` lines of even length
    half of theirs; `lies_across`: results lie along the second one, and the lines beside each other."""
    outer, beside, given_length = sizes
    kept = kept or length
    kernel = Kernel(b, element, lanes_of(beside, given_length, *([] if lies_across else [kept])))
    t, source = kernel.t, kernel.source(given, *sizes)
    target = kernel.target(form, *((outer, kept, beside) if lies_across else (outer, beside, kept)))
    halves = kernel.table(halves_of(real, length)) if real in ("RFFT", "IRFFT") else None
    stages = Stages(t, length, sign, kernel.table)
    memories = [t.memory(length + (halves is not None)) for _ in range(2)]

    def turn_of(k):
        return t.number_of(halves, 0, k), t.number_of(halves, 1, k)

    def unit(number, carried):
        a, block = t.divided(number, t.blocks(beside))
        first = t.block(block, beside)
        read = memories[1]

        def take(block, carried):
            j = t.block(block, given_length)
            rows = [source.load(t, a, t.sum(first, t.index(i)) if i else first, j) for i in range(t.lanes)]
            rows = [(x[0], t.zero_for(x[1])) for x in rows]
            for i, x in enumerate(t.transposed_numbers(rows)):
                read.store(t, x, t.sum(j, t.index(i)) if i else j)
            return carried
        t.repeat(t.blocks(given_length), [], take)
        if real == "IRFFT":
            read = memories[0]
            before_lanes(t, length, memories[1], read, turn_of)
        elif real == "odd IRFFT":
            _conjugate_rest(t, length, given_length, read)
        across = lies_across and real != "RFFT"

        def store(carried, x, k):
            if across:
                return target.store(t, carried, scaled(t, x, scale), a, k, first)
            done.store(t, scaled(t, x, scale), k)
            return carried
        order = memories if read is memories[1] else memories[::-1]
        done = order[(len(stages.radices) - 1) % 2]
        made = stages.run(lambda j: read.load(t, j), store, carried if across else [], order)
        if across:
            return made
        if real == "RFFT":
            spectrum = order[len(stages.radices) % 2]
            behind_lanes(t, length, done, spectrum, turn_of)
            done = spectrum

        def give(block, carried):
            k = t.block(block, kept)
            rows = [done.load(t, t.sum(k, t.index(i)) if i else k) for i in range(t.lanes)]
            for i, x in enumerate(t.transposed_numbers(rows)):
                carried = target.store(t, carried, x, a, t.sum(first, t.index(i)) if i else first, k)
            return carried
        return t.repeat(t.blocks(kept), carried, give)
    return kernel.call(outer * t.blocks(beside), length * t.lanes, unit, target)


def _conjugate_rest(t, length, given, memory):
    """Of the coefficients of real numbers."""
    first = memory.load(t, t.index(0))
    memory.store(t, (first[0], None), t.index(0))

    def one(number, carried):
        k = t.sum(number, t.index(1))
        x = memory.load(t, k)
        memory.store(t, (x[0], t.negative(x[1])), t.value(f"arith.subi {t.index(length)}, {k} : index"))
        return carried
    t.repeat(given - 1, [], one)
