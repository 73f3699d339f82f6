"""Fourier transforms on cores, as calls of kernels (on_cores.py), one for each dimension, whose vectors hold numbers of neighbouring
columns or of several lines.

Columns lie side by side in memory (`columns`). Where lines lie one after the other, `lines` takes eight of them at a time; of a long
line `line` makes lanes of eight columns, and its rows of eight are the last stage. What no core has room for is done by two
kernels, columns first. Lengths with large primes become convolutions, and short ones of these products with a matrix.
"""
import math

from jaxlib.mlir import ir

from .fourier_kernels import columns, convolved_line, fits, lanes_of, line
from .fourier_lines import lines
from .fourier_real import before_real_lines, behind_real_lines
from .fourier_stages import is_smooth, wide_enough
from .words import split_word

PRODUCT_MAX = 64  # Lines of other lengths up to this one are products with a matrix.


def takes(shape, lengths):
    """Whether anything of a transform is done here."""
    return min(shape, default=0) > 0 and any(length > (1 if is_smooth(length) else PRODUCT_MAX) for length in lengths)


def transform(b, element, given, form, shape, kind, lengths, otherwise):
    """Of a form and its values, a tensor of a shape of complex numbers (real ones for RFFT): a form, which is that wanted if it can be, and the values of the
    result. `otherwise` transforms a pair along a dimension that no kernel is for."""
    is_inverse = kind in ("IFFT", "IRFFT")
    ways = _ways(kind, shape, lengths, element)
    for i, (way, dimension, length, made) in enumerate(ways):
        wanted = form if i == len(ways) - 1 else _between(element)
        if way:
            given = way(b, given, wanted, 1 if is_inverse else -1, 1 / length if is_inverse else 1.0)
        else:
            pair = [b.reshape(each, shape) for each in _parts(b, given)]
            given = otherwise(b, (*pair, None)[:2], dimension, length, made[dimension], kind if dimension == len(shape) - 1 else None, is_inverse)
        shape = made
    return given[0], [b.reshape(each, shape) for each in given[1]]


def along(b, element, pair, shape, dimension, length, is_inverse):
    """A pair of complex numbers, transformed; None where no kernel is for that."""
    outer, inner = math.prod(shape[:dimension]), math.prod(shape[dimension + 1:])
    way = _way(element, outer, length, inner, None) if min(shape) > 0 and length > 1 else None
    if not way:
        return None
    given = way(b, ("parts", [each for each in pair if each is not None]), "parts", 1 if is_inverse else -1, 1 / length if is_inverse else 1.0)
    return tuple(b.reshape(each, shape) for each in given[1])


def _parts(b, given):
    form, values = given
    return split_word(b, values[0]) if form == "words" else values


def _between(element):
    return "parts" if isinstance(element, ir.F64Type) else "words"


def _ways(kind, shape, lengths, element):
    """For each dimension the function that transforms along it, None where there is none, the dimension, its length, and the shape that it makes."""
    shape, rank, ways = list(shape), len(shape), []
    steps = [each for each in zip(range(rank - len(lengths), rank), lengths)]
    for dimension, length in steps if kind == "IRFFT" else reversed(steps):
        real = kind if kind in ("RFFT", "IRFFT") and dimension == rank - 1 else None
        if length == 1 and not real:
            continue
        outer, inner = math.prod(shape[:dimension]), math.prod(shape[dimension + 1:])
        way = _way(element, outer, length, inner, real)
        shape[dimension] = length // 2 + 1 if real == "RFFT" else length
        ways.append((way, dimension, length, list(shape)))
    return ways


def _way(element, outer, length, inner, real):
    if inner > 1:
        sizes = outer, length, inner
        if not is_smooth(length) or not fits(length, element):
            return None
        return lambda b, given, form, sign, scale: columns(b, element, given, form, sizes, sign, scale)
    if not is_smooth(length):
        return _way_of_any_length(element, outer, length, real)
    if not real:
        return _way_of_lines(element, outer, length)
    if length % 2:
        return _way_of_odd_lines(element, outer, length, real)
    return _way_of_real_lines(element, outer, length // 2, real)


def _way_of_any_length(element, outer, length, real):
    if length <= PRODUCT_MAX or real == "IRFFT" or not fits(1.5 * wide_enough(length), element):
        return None
    kept = length // 2 + 1 if real else length
    return lambda b, given, form, sign, scale: convolved_line(b, element, given, form, outer, length, kept, sign, scale)


def _way_of_lines(element, outer, length):
    if length < 2 or not is_smooth(length):
        return None
    if length % 8 == 0 and length >= 64 and fits(length, element):
        return lambda b, given, form, sign, scale: line(b, element, given, form, outer, length, sign, scale)
    rows = _divisor(length)
    if rows >= 8 and (outer < 8 or not fits(8 * length, element)) and fits(8 * length // rows, element):
        return lambda b, given, form, sign, scale: _in_two_kernels(b, element, given, form, outer, (rows, length // rows), sign, scale)
    if fits(length * lanes_of(outer, length), element):
        return lambda b, given, form, sign, scale: lines(b, element, given, form, (1, outer, length), length, sign, scale)
    return None


def _in_two_kernels(b, element, given, form, outer, lengths, sign, scale):
    """As rows times columns: columns are transformed and turned by what their places say, and then rows, which lie across in the result."""
    rows, beside = lengths
    given = columns(b, element, given, _between(element), (outer, rows, beside), sign, scale, is_first=True)
    return lines(b, element, given, form, (outer, rows, beside), beside, sign, lies_across=True)


def _way_of_odd_lines(element, outer, length, real):
    kept = length // 2 + 1
    given_length = kept if real == "IRFFT" else length
    whole = _way_of_lines(element, outer, length)
    if whole and real == "RFFT" and outer < 8 and _divisor(length) >= 8:
        return lambda b, given, form, sign, scale: _first_ones(b, whole(b, given, form, sign, scale), outer, length, kept)
    if length < 3 or not fits(length * lanes_of(outer, kept), element):
        return None

    def way(b, given, form, sign, scale):
        return lines(b, element, given, "real" if real == "IRFFT" else form, (1, outer, given_length), length, sign, scale, f"odd {real}",
                     length if real == "IRFFT" else kept)
    return way


def _way_of_real_lines(element, outer, half, real):
    """Of twice the length."""
    if half < 2:
        return None
    from_real = real == "RFFT"
    if half % 8 == 0 and half >= 64 and fits(1.5 * (half + 1), element):
        return lambda b, given, form, sign, scale: line(b, element, _as_pairs(given, real), form if from_real else "pairs", outer, half, sign, scale, real)
    if fits((half + 1) * lanes_of(outer, half), element) and (half < 64 or outer >= 8):
        sizes, kept = (1, outer, half if from_real else half + 1), half + 1 if from_real else half
        return lambda b, given, form, sign, scale: lines(b, element, _as_pairs(given, real), form if from_real else "pairs", sizes, half, sign, scale, real, kept)
    whole = _way_of_lines(element, outer, half)
    if not whole or half < 16:
        return None

    def way(b, given, form, sign, scale):
        if from_real:
            return behind_real_lines(b, element, whole(b, _as_pairs(given, real), _between(element), sign, scale), form, outer, half)
        return whole(b, before_real_lines(b, element, given, _between(element), outer, half), "pairs", sign, scale)
    return way


def _first_ones(b, given, outer, length, kept):
    form, values = given
    return form, [b.slice(b.reshape(each, [outer, length]), [0, 0], [outer, kept]) for each in values]


def _as_pairs(given, real):
    return ("pairs", given[1]) if real == "RFFT" else given


def _divisor(length):
    """The largest one that is not above the root."""
    return max(each for each in range(1, math.isqrt(length) + 1) if length % each == 0)
