"""The stages of Fourier transforms on cores (fourier_on_cores.py), and their numbers.

Lanes go through them side by side (Stockham's way): a stage takes as many numbers as its radix has from places far apart, transforms
them in registers, and writes them where the next stage finds its own. None of the lanes looks at another one.
"""
import math

import numpy as np

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
RADIX_MAX = 8  # But for larger primes.


def is_smooth(length):
    for prime in PRIMES:
        while length % prime == 0:
            length //= prime
    return length == 1


def radices(length):
    """The numbers of each stage: at most eight but for larger primes, and as few stages as that takes."""
    twos, made = 0, []
    while length % 2 == 0:
        length, twos = length // 2, twos + 1
    for prime in reversed(PRIMES[1:]):
        while length % prime == 0:
            length //= prime
            made.append(prime)
    if twos == 1 and 3 in made:
        made[made.index(3)] = 6
        twos = 0
    while twos > 4 or twos == 3:
        made.append(8)
        twos -= 3
    return made + ([4, 4] if twos == 4 else [2 ** twos] if twos else [])


def butterfly(t, x, sign):
    """The transform of a few numbers in registers."""
    size = len(x)
    factor = next((each for each in PRIMES if size % each == 0), 1)
    if size == 1:
        return list(x)
    if size == 2:
        return [t.add(*x), t.subtract(*x)]
    if factor == size:
        return _prime_butterfly(t, x, sign)
    rest = size // factor
    columns = [butterfly(t, x[i::rest], sign) for i in range(rest)]
    made = [None] * size
    for k in range(factor):
        row = [t.turn(columns[i][k], np.exp(sign * 2j * np.pi * i * k / size)) for i in range(rest)]
        made[k::factor] = butterfly(t, row, sign)
    return made


def _prime_butterfly(t, x, sign):
    size, half = len(x), range(1, len(x) // 2 + 1)
    sums = [t.add(x[j], x[size - j]) for j in half]
    differences = [t.subtract(x[j], x[size - j]) for j in half]
    made = [x[0]] + [None] * (size - 1)
    for each in sums:
        made[0] = t.add(made[0], each)
    for k in half:
        even, odd = x[0], (None, None)
        for j in half:
            angle = 2 * np.pi * (j * k % size) / size
            even = t.add(even, t.scale(sums[j - 1], t.splat(math.cos(angle))))
            odd = t.add(odd, t.scale(differences[j - 1], t.splat(sign * math.sin(angle))))
        turned = t.negative(odd[1]), odd[0]
        made[k], made[size - k] = t.add(even, turned), t.subtract(even, turned)
    return made


def roots(length, sign, turns):
    """e ^ (2 pi i turns / length), for whole turns; what is zero is so."""
    angle = 2 * np.pi * (turns % length) / length
    made = np.stack([np.cos(angle), sign * np.sin(angle)])
    return np.where(abs(made) < 1e-15, 0, made)


def wide_enough(length):
    """For a convolution of a line with a chirp: a multiple of eight that a few small primes divide."""
    eighth = -(-(2 * length - 1) // 8)
    while max(radices(eighth), default=1) > RADIX_MAX or not is_smooth(eighth) or eighth < 8:
        eighth += 1
    return 8 * eighth


def chirps(length, wide, sign):
    """The chirp that a line is multiplied with before and behind its convolution, and the transform of the one that it is convolved with."""
    chirp = np.exp(sign * 1j * np.pi * (np.arange(length) ** 2 % (2 * length)) / length)
    around = np.zeros(wide, np.complex128)
    around[:length], around[wide - length + 1:] = chirp.conj(), chirp.conj()[:0:-1]
    return chirp, np.fft.fft(around)


class Stages:
    """Of a transform of lanes; `table` makes a tensor of numbers."""

    def __init__(self, t, length, sign, table):
        self.t, self.length, self.sign = t, length, sign
        self.radices = radices(length)
        self.roots = table(roots(length, sign, np.arange(length))) if len(self.radices) > 1 else None

    def run(self, load, store, carried, memories):
        """`load` gets the place of a number, `store` what is carried, a number and its place. Between stages numbers are in
        one of two memories."""
        before = 1
        for i, radix in enumerate(self.radices):
            if i == len(self.radices) - 1:
                return self._stage(radix, before, load, store, carried)
            self._stage(radix, before, load, self._storing(memories[i % 2]), [])
            before *= radix
            load = self._loading(memories[i % 2])

    def _storing(self, memory):
        def store(carried, x, row):
            memory.store(self.t, x, row)
            return carried
        return store

    def _loading(self, memory):
        return lambda row: memory.load(self.t, row)

    def _stage(self, radix, before, load, store, carried):
        t, behind = self.t, self.length // before // radix

        def group(p, carried):
            turns = self._turns(p, radix, before, behind)

            def one(q, carried):
                first = t.sum(q, t.times_index(p, before)) if behind > 1 else q
                x = [load(t.sum(first, t.index(before * behind * j)) if j else first) for j in range(radix)]
                to = t.sum(q, t.times_index(p, before * radix)) if behind > 1 else q
                for k, number in enumerate(butterfly(t, x, self.sign)):
                    number = t.multiply(number, turns[k]) if turns[k] else number
                    carried = store(carried, number, t.sum(to, t.index(before * k)) if k else to)
                return carried
            return t.repeat(before, carried, one)
        return t.repeat(behind, carried, group)

    def _turns(self, p, radix, before, behind):
        t, turns = self.t, [None] * radix
        for k in range(1, radix if behind > 1 else 1):
            place = t.times_index(p, before * k)
            turns[k] = t.number_of(self.roots, 0, place), t.number_of(self.roots, 1, place)
        return turns
