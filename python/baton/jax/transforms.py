"""Fourier transforms of complex numbers as pairs of their parts, and of real ones.

A transform multiplies by its matrix, one dimension after the other: n * n work for n elements; lengths with divisors are
transformed as rows and columns, which is work for the sum of the divisors, and long ones without any as a convolution. Lines
that a workgroup can hold are transformed by a function that says so: blocks of threads have a kernel for it
(compiler-lite/codegen/fourier.hpp).
"""
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import fourier_on_cores
from .build import element_of, is_value, shape_of, tensor_type
from .complex_functions import is_complex, part_type, product
from .fourier_stages import chirps, is_smooth, wide_enough
from .libraries import call_fft
from .on_cores import call_either, module_of
from .scalars import owner_of
from .words import joined_word, split_word, word_of

PRODUCT_MAX = 64  # Elements along a dimension that are transformed by one product, where the length has divisors.
PRIME_MAX = 256  # The same where it has none.
LINE_BYTES = 16 * 1024  # Of one part of a line that a workgroup may hold.
SURE_LINE_BYTES = 8 * 1024  # Of one that any holds.
LINE_PRIMES = (2, 3, 5, 7, 11, 13)  # What its length is made of.


def transform(b, op, pair, module, libraries):
    """Of the two parts of the operand, of which the imaginary one may be None: two parts, or real numbers."""
    kind = stablehlo.FftTypeAttr(op.attributes["fft_type"]).value
    lengths = list(op.attributes["fft_length"])
    if "fft" in libraries and len(lengths) <= 3:
        return _command(b, op, pair, module, kind, lengths)
    if kind in ("FFT", "IFFT") and _is_zero(pair[1]):  # Real numbers as complex ones.
        pair = (pair[0], None)
    made = shape_of(op.results[0])
    if not fourier_on_cores.takes(shape_of(pair[0]), lengths):
        return _by_dimensions(b, pair, kind, lengths, made)
    ends = all(use.owner.name == "func.return" for use in op.results[0].uses)
    return _in_either_form(b, pair, kind, lengths, made, ends)


def _in_either_form(b, pair, kind, lengths, made, ends):
    """A transform as a whole, which has a form for cores. Complex numbers are words where they come as such, and where the function ends."""
    element, shape = element_of(pair[0]), shape_of(pair[0])
    word = word_of(pair) if pair[1] is not None and isinstance(element, ir.F32Type) else None
    operands = [word] if word else [each for each in pair if each is not None]
    form = "parts" if kind == "IRFFT" or isinstance(element, ir.F64Type) or not ends else "words"
    results = [tensor_type(made, element)] * (1 if kind == "IRFFT" else 2)
    if form == "words":
        results = [tensor_type(made, ir.IntegerType.get_signless(64))]

    def rounds(inner, operands):
        parts = split_word(inner, operands[0]) if word else (*operands, None)[:2]
        values = _by_dimensions(inner, parts, kind, lengths, made)
        return [values] if kind == "IRFFT" else [joined_word(inner, values)] if form == "words" else list(values)

    def kernels(inner, operands):
        made_form, values = fourier_on_cores.transform(inner, element, ("words" if word else "parts", operands), form, shape, kind, lengths, _otherwise)
        return [joined_word(inner, values)] if form == "words" != made_form else values

    values = call_either(b, module_of(b), "transform", operands, results, rounds, on_cores=kernels)
    if kind == "IRFFT":
        return values[0]
    return split_word(b, values[0]) if form == "words" else tuple(values)


def _otherwise(b, pair, dimension, length, kept, real, inverse):
    """On cores, of lines that no kernel of theirs is for: a form and its values."""
    if real == "IRFFT":
        pair = _whole_pair(b, pair, dimension, length)
        return "real", [_along_on_cores(b, pair, dimension, length, length, True)[0]]
    return "parts", list(_along_on_cores(b, pair, dimension, length, kept, inverse))


def _along_on_cores(b, pair, dimension, length, kept, inverse):
    shape = shape_of(pair[0])
    made = fourier_on_cores.along(b, element_of(pair[0]), pair, shape, dimension, length, inverse)
    if made:
        limits = [*shape[:dimension], kept, *shape[dimension + 1:]]
        return made if kept == length else tuple(b.slice(each, [0] * len(shape), limits) for each in made)
    if length > PRODUCT_MAX and not is_smooth(length):
        wide = wide_enough(length)
        return _as_convolution(b, pair, dimension, length, kept, inverse, _along_on_cores, wide)
    return _by_products(b, pair, dimension, length, kept, inverse, _along_on_cores)


def _whole_pair(b, pair, dimension, length):
    return tuple(_whole(b, each, dimension, length, sign) for each, sign in zip(pair, (1, -1)))


def _by_dimensions(b, pair, kind, lengths, made):
    rank, inverse = len(made), kind in ("IFFT", "IRFFT")
    steps = list(reversed(list(zip(range(rank - len(lengths), rank), lengths))))
    if kind == "IRFFT":  # The other dimensions first: only then are the coefficients along the last one those of real numbers.
        for dimension, length in steps[1:]:
            pair = _transformed(b, pair, dimension, length, length, inverse)
        return _real(b, pair, *steps[0])
    for dimension, length in steps:
        pair = _transformed(b, pair, dimension, length, made[dimension] if kind == "RFFT" else length, inverse)
    return pair


def _is_zero(value):
    op = owner_of(value) if value is not None else None
    if op is None or op.name != "stablehlo.constant":
        return False
    numbers = ir.DenseElementsAttr(op.attributes["value"])
    return numbers.is_splat and ir.FloatAttr(numbers.get_splat_value()).value == 0


def _command(b, op, pair, module, kind, lengths):
    result, parts = op.results[0].type, [each for each in pair if each is not None]
    made = [part_type(result)] * 2 if is_complex(result) else [result]
    values = call_fft(b, module, kind, parts, made, lengths)
    return tuple(values) if is_complex(result) else values[0]


def _whole(b, half, dimension, length, sign):
    """All of the coefficients of real numbers, of which the first half is given."""
    shape = b.sizes(half)
    begin, end = [0] * len(shape), list(shape)
    begin[dimension], end[dimension] = 1, length - shape[dimension] + 1
    rest = b.slice(half, begin, end)
    rest = b.value("stablehlo.reverse", [rest], rest.type, {"dimensions": ir.DenseI64ArrayAttr.get([dimension])})
    return b.concatenate([half, rest if sign > 0 else b.each("negate", rest)], dimension)


def _real(b, pair, dimension, length):
    """The real numbers that coefficients along the last dimension belong to."""
    if _fits_workgroup(b, pair, length):
        return _as_lines(b, pair, dimension, length, length, True, 1)[0]
    return _transformed(b, _whole_pair(b, pair, dimension, length), dimension, length, length, True)[0]


def _transformed(b, pair, dimension, length, kept, inverse):
    if _fits_workgroup(b, pair, length):
        return _as_lines(b, pair, dimension, length, kept, inverse, 2)
    return _by_products(b, pair, dimension, length, kept, inverse, _transformed)


def _only_by_products(b, pair, dimension, length, kept, inverse):
    return _by_products(b, pair, dimension, length, kept, inverse, _only_by_products)


def _bytes_of_line(value, length):
    return length * (8 if isinstance(element_of(value), ir.F64Type) else 4)


def _fits_workgroup(b, pair, length):
    rest = length
    for prime in LINE_PRIMES:
        while rest % prime == 0:
            rest //= prime
    return rest == 1 < length and _bytes_of_line(pair[0], length) <= LINE_BYTES and not any(is_value(each) for each in b.sizes(pair[0]))


def _as_lines(b, pair, dimension, length, kept, inverse, parts):
    """By a function that says what it does: lines along the second of three dimensions."""
    shape, element = shape_of(pair[0]), element_of(pair[0])
    before, behind = shape[:dimension], shape[dimension + 1:]
    outer, inner = int(np.prod(before)), int(np.prod(behind))
    given = [b.reshape(each, [outer, shape[dimension], inner]) for each in pair if each is not None]
    angle = (2 if inverse else -2) * np.pi * np.arange(length) / length
    roots = _numbers(b, np.stack([np.cos(angle), np.sin(angle)]), element)

    def write(builder, operands):
        lines = operands[:-1]
        if shape[dimension] < length:
            lines = _whole_pair(builder, lines, 1, length)
        halves = _only_by_products if _bytes_of_line(lines[0], length) <= SURE_LINE_BYTES else _transformed
        return list(_by_products(builder, (*lines, None)[:2], 1, length, kept, inverse, halves))[:parts]

    made = call_either(b, module_of(b), "fourier", [*given, roots], [tensor_type([outer, kept, inner], element)] * parts, write,
                       says={"baton.fourier": ir.DenseI64ArrayAttr.get([length, int(inverse)])})
    return tuple(b.reshape(each, [*before, kept, *behind]) for each in made)


def _by_products(b, pair, dimension, length, kept, inverse, transformed):
    """`transformed`: how shorter lines are."""
    rows = _divisor(length)
    if rows == 1 and length > PRIME_MAX:
        return _as_convolution(b, pair, dimension, length, kept, inverse, transformed)
    if length <= PRODUCT_MAX or rows == 1:
        return _multiplied(b, pair, dimension, length, kept, inverse)
    return _in_two_steps(b, pair, dimension, (rows, length // rows), kept, inverse, transformed)


def _in_two_steps(b, pair, dimension, lengths, kept, inverse, transformed):
    """As rows times columns: columns are transformed, turned by what their places say, and then rows are."""
    (rows, columns), shape = lengths, b.sizes(pair[0])
    before, behind = shape[:dimension], shape[dimension + 1:]
    pair = tuple(None if each is None else b.reshape(each, [*before, rows, columns, *behind]) for each in pair)
    pair = transformed(b, pair, dimension, rows, rows, inverse)
    angle = (2 if inverse else -2) * np.pi * np.outer(np.arange(rows), np.arange(columns)) / (rows * columns)
    turns = [b.broadcast(_numbers(b, each, element_of(pair[0])), b.sizes(pair[0]), [dimension, dimension + 1]) for each in (np.cos(angle), np.sin(angle))]
    pair = transformed(b, product(b, pair, turns), dimension + 1, columns, columns, inverse)
    order = list(range(len(shape) + 1))
    order[dimension:dimension + 2] = [dimension + 1, dimension]
    pair = tuple(b.reshape(b.transpose(each, order), [*before, rows * columns, *behind]) for each in pair)
    if kept == rows * columns:
        return pair
    return tuple(b.slice(each, [0] * len(shape), [*before, kept, *behind]) for each in pair)


def _as_convolution(b, pair, dimension, length, kept, inverse, transformed, wide=None):
    """By 2nk = n² + k² - (k - n)² a transform is a convolution with a chirp (Bluestein), done by transforms of `wide` numbers."""
    shape, wide = b.sizes(pair[0]), wide or 1 << (2 * length - 1).bit_length()
    chirp, spectrum = chirps(length, wide, 1 if inverse else -1)
    low, high = [0] * len(shape), [wide - length if i == dimension else 0 for i in range(len(shape))]
    pair = tuple(b.pad(each, 0, low, high) for each in _turned(b, pair, dimension, chirp))
    pair = transformed(b, pair, dimension, wide, wide, False)
    pair = transformed(b, _turned(b, pair, dimension, spectrum), dimension, wide, wide, True)
    limits = [*shape[:dimension], kept, *shape[dimension + 1:]]
    pair = tuple(b.slice(each, [0] * len(shape), limits) for each in pair)
    return _turned(b, pair, dimension, chirp[:kept] * (1 / length if inverse else 1))


def _turned(b, pair, dimension, numbers):
    """Multiplied by a complex number for each place along a dimension."""
    parts = [b.broadcast(_numbers(b, each, element_of(pair[0])), b.sizes(pair[0]), [dimension]) for each in (numbers.real, numbers.imag)]
    return product(b, (pair[0], b.like(pair[0], 0) if pair[1] is None else pair[1]), parts)


def _multiplied(b, pair, dimension, length, kept, inverse):
    element = element_of(pair[0])
    turns = np.outer(np.arange(length), np.arange(kept)) % length
    angle = (2 if inverse else -2) * np.pi * turns / length
    scale = 1 / length if inverse else 1
    cosines, sines = (_numbers(b, each * scale, element) for each in (np.cos(angle), np.sin(angle)))
    shape = shape_of(pair[0])
    rest = [i for i in range(len(shape)) if i != dimension]

    def dot(x, matrix):
        numbers = stablehlo.DotDimensionNumbers.get(lhs_batching_dimensions=[], rhs_batching_dimensions=[],
                                                    lhs_contracting_dimensions=[dimension], rhs_contracting_dimensions=[0])
        made = b.value("stablehlo.dot_general", [x, matrix], tensor_type([shape[i] for i in rest] + [kept], element),
                       {"dot_dimension_numbers": numbers})
        return b.transpose(made, [*range(dimension), len(rest), *range(dimension, len(rest))])

    real, imaginary = dot(pair[0], cosines), dot(pair[0], sines)
    if pair[1] is not None:
        real = b.subtract(real, dot(pair[1], sines))
        imaginary = b.add(imaginary, dot(pair[1], cosines))
    return real, imaginary


def _numbers(b, numbers, element):
    attribute = ir.DenseElementsAttr.get(numbers.astype(np.float64 if isinstance(element, ir.F64Type) else np.float32))
    return b.value("stablehlo.constant", [], attribute.type, {"value": attribute})


def _divisor(length):
    """The largest one that is not above the root."""
    return max(i for i in range(1, int(length ** 0.5) + 1) if length % i == 0)
