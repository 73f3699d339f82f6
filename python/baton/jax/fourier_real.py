"""Fourier transforms of real lines of even length on cores (fourier_on_cores.py), by complex ones of half the length: even numbers are
real parts, odd ones imaginary parts. Behind a transform its coefficients become those of the real numbers, and before an inverse one
the other way round; both look at a coefficient and at the one as far from the end.
"""
import numpy as np

from .fourier_stages import roots
from .vectors import Kernel


def halves_of(real, length):
    """What odd numbers of a real line are turned by."""
    if real == "RFFT":
        return roots(2 * length, -1, np.arange(length + 1)) / 2
    return roots(2 * length, 1, np.arange(length + 1))


def _of_real(t, here, there, turn):
    """A coefficient of real numbers, of which the even and the odd ones are the parts of complex ones with coefficients `here` and, as far
    from the end, `there`."""
    half = t.splat(0.5)
    even = t.scaled(t.plus(here[0], there[0]), half), t.scaled(t.less(here[1], there[1]), half)
    odd = t.plus(here[1], there[1]), t.less(there[0], here[0])
    return t.add(even, t.multiply(odd, turn))


def _to_real(t, here, there, turn):
    """The other way round, twice as large."""
    even = t.plus(here[0], there[0]), t.less(here[1], there[1])
    odd = t.multiply((t.less(here[0], there[0]), t.plus(here[1], there[1])), turn)
    return t.add(even, (t.negative(odd[1]), odd[0]))


def _mirrored(t, load, length, k):
    """What stands as far from the end as the lanes from k on from the beginning."""
    begin = t.value(f"arith.subi {t.index(length - t.lanes + 1)}, {k} : index")
    return tuple(t.shuffle(each, each, range(t.lanes - 1, -1, -1)) for each in load(begin))


def behind_line(t, length, whole, halves, target, a, carried):
    whole.copy(t, 0, length)
    none = t.index(0)

    def some(block, carried):
        k = t.block(block, length + 1)
        x = _of_real(t, whole.load(t, k), _mirrored(t, lambda at: whole.load(t, at), length, k), halves.load(t, none, none, k))
        return target.store(t, carried, x, a, none, k)
    return t.repeat(t.blocks(length + 1), carried, some)


def before_line(t, length, load, whole, halves):
    """Imaginary parts of the first and the last coefficient count for nothing."""
    none = t.index(0)

    def some(k, here, there):
        whole.store(t, _to_real(t, here, there, halves.load(t, none, none, k)), k)

    def block(number, carried):
        k = t.block(number, length)
        some(k, load(k), _mirrored(t, load, length, k))
        return carried
    t.repeat(t.blocks(length), [], block)
    some(none, *((x[0], t.without_first(x[1])) for x in (load(none), _mirrored(t, load, length, none))))


def behind_lanes(t, length, source, target, turn_of):
    source.store(t, source.load(t, t.index(0)), t.index(length))

    def one(k, carried):
        there = t.value(f"arith.subi {t.index(length)}, {k} : index")
        target.store(t, _of_real(t, source.load(t, k), source.load(t, there), turn_of(k)), k)
        return carried
    t.repeat(length + 1, [], one)


def before_lanes(t, length, source, target, turn_of):
    for each in (0, length):
        source.store(t, (source.load(t, t.index(each))[0], None), t.index(each))

    def one(k, carried):
        there = t.value(f"arith.subi {t.index(length)}, {k} : index")
        target.store(t, _to_real(t, source.load(t, k), source.load(t, there), turn_of(k)), k)
        return carried
    t.repeat(length, [], one)


def behind_real_lines(b, element, given, form, outer, length):
    """Coefficients of real lines from those of complex ones of half the length."""
    kernel = Kernel(b, element, 8)
    t, source, target = kernel.t, kernel.source(given, outer, 1, length), kernel.target(form, outer, 1, length + 1)
    blocks, none, backwards = t.blocks(length - 1), t.index(0), range(7, -1, -1)
    turn = _turns_of_blocks(kernel, length, "RFFT")

    def some(a, carried, here, there, number, k):
        return target.store(t, carried, _of_real(t, here, there, turn(number)), a, none, k)

    def ends(a, carried):
        first, last = (source.load(t, a, none, t.index(k)) for k in (0, length - 8))
        around = [t.shuffle(x, y, [0, *range(15, 8, -1)]) for x, y in zip(first, last)]
        carried = some(a, carried, first, around, t.index(blocks), none)
        around = [t.shuffle(x, y, range(1, 9)) for x, y in zip(last, first)]
        return some(a, carried, around, [t.shuffle(x, x, backwards) for x in first], t.index(blocks + 1), t.index(length - 7))

    def between(a, carried, number):
        k = t.sum(t.block(number, length - 1), t.index(1))
        there = source.load(t, a, none, t.value(f"arith.subi {t.index(length - 7)}, {k} : index"))
        return some(a, carried, source.load(t, a, none, k), [t.shuffle(x, x, backwards) for x in there], number, k)
    return _in_runs(kernel, outer, blocks, ends, between, target)


def before_real_lines(b, element, given, form, outer, length):
    """The other way round."""
    kernel = Kernel(b, element, 8)
    t, source, target = kernel.t, kernel.source(given, outer, 1, length + 1), kernel.target(form, outer, 1, length)
    blocks, none = t.blocks(length - 1), t.index(0)
    turn = _turns_of_blocks(kernel, length, "IRFFT")

    def some(a, carried, here, there, number, k):
        return target.store(t, carried, _to_real(t, here, there, turn(number)), a, none, k)

    def both(a, k):
        return source.load(t, a, none, k), _mirrored(t, lambda at: source.load(t, a, none, at), length, k)

    def ends(a, carried):
        return some(a, carried, *((x[0], t.without_first(x[1])) for x in both(a, none)), t.index(blocks), none)

    def between(a, carried, number):
        k = t.sum(t.block(number, length - 1), t.index(1))
        return some(a, carried, *both(a, k), number, k)
    return _in_runs(kernel, outer, blocks, ends, between, target)


def _turns_of_blocks(kernel, length, real):
    """By the number of a block of lanes behind the first coefficient, and behind those of the first and the last ones: the turn of its first one
    times those of the ones behind it, as a table of all would be as large as the lines."""
    t, sign = kernel.t, -1 if real == "RFFT" else 1
    begins = [*(1 + np.minimum(np.arange(t.blocks(length - 1)) * 8, length - 9)), 0, length - 7]
    heads = kernel.table(roots(2 * length, sign, np.array(begins)) / (2 if real == "RFFT" else 1))
    behind = kernel.turns(roots(2 * length, sign, np.arange(8))[:, None])

    def turn(number):
        head = t.number_of(heads, 0, number), t.number_of(heads, 1, number)
        return t.multiply(behind.load(t, *[t.index(0)] * 3), head)
    return turn


def _in_runs(kernel, outer, blocks, ends, between, target):
    """Blocks of each line in runs, which workgroups share; `ends` is done for each run."""
    t, run = kernel.t, min(blocks, 256)
    runs = -(-blocks // run)

    def unit(number, carried):
        a, begin = t.divided(number, runs)
        begin = t.times_index(begin, run)

        def one(turn, carried):
            number = t.value(f"arith.minui {t.sum(begin, turn)}, {t.index(blocks - 1)} : index")
            return between(a, carried, number)
        return t.repeat(run, ends(a, carried), one)
    return kernel.call(outer * runs, run * t.lanes, unit, target)
