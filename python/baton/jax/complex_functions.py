"""Functions of complex numbers, on pairs of their parts; `b` is a Builder, x + iy the argument.

What could overflow on the way to a number that does not is kept small. Infinite parts, zeros and what is no number give what XLA
gives: a number that is infinite whatever its other part is, has an infinite length; by zero it is infinite, over it zero.
"""
from jaxlib.mlir import ir

from .build import element_of, shape_of, tensor_type

INFINITE = float("inf")


def is_complex(type_):
    return isinstance(type_, ir.RankedTensorType) and isinstance(type_.element_type, ir.ComplexType)


def part_type(type_):
    element = ir.ComplexType(type_.element_type).element_type
    return tensor_type(list(type_.shape), element)


def product(b, z, w):
    real = b.subtract(b.multiply(z[0], w[0]), b.multiply(z[1], w[1]))
    return real, b.add(b.multiply(z[0], w[1]), b.multiply(z[1], w[0]))


def divide(b, z, w):
    """By the larger part of the divisor first, so that its square does not overflow; where that gives no number there may be
    one still."""
    c, d = w
    size = b.maximum(b.each("abs", c), b.each("abs", d))
    c, d = b.divide(c, size), b.divide(d, size)
    square = b.multiply(b.add(b.multiply(c, c), b.multiply(d, d)), size)
    found = [b.divide(each, square) for each in product(b, z, (c, b.each("negate", d)))]
    lost = b.both(*(_is_nan(b, each) for each in found))
    return tuple(b.select(lost, *both) for both in zip(_limits_of_quotients(b, z, w, size), found))


def _limits_of_quotients(b, z, w, size):
    """Where the divisor is zero, or either number is infinite: infinite numbers become ones, finite ones beside them zeros."""
    def ones(pair):
        infinite = [b.compare("EQ", b.each("abs", each), INFINITE) for each in pair]
        units = [_signed(b, b.select(each, b.like(part, 1), b.like(part, 0)), part) for each, part in zip(infinite, pair)]
        return units, b.either(*infinite)

    def turned(one, other, scale):
        made = product(b, one, (other[0], b.each("negate", other[1])))
        return [b.multiply(each, scale) for each in made]

    over, is_over = ones(z)
    under, is_under = ones(w)
    by_zero = _signed(b, b.like(size, INFINITE), w[0])
    none, grows, vanishes = b.like(size, float("nan")), b.both(is_over, is_finite(b, w)), b.both(is_under, is_finite(b, z))
    some = [b.select(grows, each, none) for each in turned(over, w, b.like(size, INFINITE))]
    some = [b.select(vanishes, *both) for both in zip(turned(z, under, b.like(size, 0)), some)]
    return [b.select(b.compare("EQ", size, 0), b.multiply(part, by_zero), each) for part, each in zip(z, some)]


def _is_nan(b, x):
    return b.compare("NE", x, x)


def _signed(b, size, like):
    """Of a size that is not below zero; a zero's sign counts."""
    bits = tensor_type(shape_of(like), ir.IntegerType.get_signless(element_of(like).width))
    is_negative = b.compare("LT", b.value("stablehlo.bitcast_convert", [like], bits), 0)
    return b.select(is_negative, b.each("negate", size), size)


def _scaled(b, z):
    """The larger one of |x| and |y|, and the smaller one over it: 1 where they are equal, whatever they are."""
    x, y = (b.each("abs", each) for each in z)
    large, small = b.maximum(x, y), b.minimum(x, y)
    same = b.compare("EQ", large, small)
    return large, b.select(same, b.like(small, 1), b.divide(small, large))


def length(b, z):
    large, ratio = _scaled(b, z)
    return b.multiply(large, b.each("sqrt", b.add(b.multiply(ratio, ratio), 1)))


def _log_length(b, z):
    """Lengths may overflow where their logarithms do not."""
    large, ratio = _scaled(b, z)
    return b.add(b.each("log", large), b.multiply(b.each("log_plus_one", b.multiply(ratio, ratio)), 0.5))


def _halved_beyond(b, x):
    """x, or half of it where e^x may overflow; and what multiplies by e^(x/2) there, once more, what was multiplied by it. So
    e^100 sin(1e-30) is the number that it is."""
    far = b.compare("GT", x, 64 if element_of(x).width <= 32 else 512)
    return b.select(far, b.multiply(x, 0.5), x), lambda size, value: b.select(far, b.multiply(value, size), value)


def exponential(b, z):
    x, whole = _halved_beyond(b, z[0])
    size = b.each("exponential", x)
    real, imaginary = (whole(size, b.multiply(size, b.each(name, z[1]))) for name in ("cosine", "sine"))
    return real, _unless_zero(b, z[1], imaginary)


def _unless_zero(b, y, value):
    """Of real numbers the imaginary part stays zero, where others are infinite."""
    return b.select(b.compare("EQ", y, 0), y, value)


def exponential_minus_one(b, z):
    """e^x cos y - 1 = (e^x - 1) cos y - 2 sin²(y/2): nothing cancels near zero."""
    (x, whole), y = _halved_beyond(b, z[0]), z[1]
    grown, half = b.each("exponential_minus_one", x), b.each("sine", b.multiply(y, 0.5))
    size = b.add(grown, 1)
    real = b.subtract(b.multiply(grown, b.each("cosine", y)), b.multiply(b.multiply(half, half), 2))
    return whole(size, real), _unless_zero(b, y, whole(size, b.multiply(size, b.each("sine", y))))


def log(b, z):
    return _log_length(b, z), b.each("atan2", z[1], z[0])


def log_plus_one(b, z):
    """log|1 + z| = log1p(x² + 2x + y²) / 2 near zero, where 1 + x would lose x; the length's logarithm elsewhere."""
    x, y = z
    moved = b.add(x, 1)
    square = b.add(b.multiply(x, b.add(x, 2)), b.multiply(y, y))
    near = b.compare("LT", b.maximum(b.each("abs", x), b.each("abs", y)), 0.5)
    small = b.multiply(b.each("log_plus_one", b.select(near, square, b.like(x, 0))), 0.5)
    return b.select(near, small, _log_length(b, (moved, y))), b.each("atan2", y, moved)


def sqrt(b, z):
    """Of (|z| + |x|) / 2, and y over twice that: the quadrant decides which is the real part."""
    (x, y), (size, unit) = z, _root_of_unit(b, z)
    large = b.multiply(size, unit)
    nothing = b.compare("EQ", large, 0)
    small = b.divide(b.multiply(y, 0.5), b.select(nothing, b.like(large, 1), large))
    small = b.select(b.compare("EQ", b.each("abs", y), INFINITE), y, small)
    right = b.compare("GE", x, 0)
    return b.select(right, large, b.each("abs", small)), b.select(right, small, _signed(b, large, y))


def _root_of_unit(b, z):
    """Roots of the larger one of |x| and |y|, and of (|z| + |x|) / 2 over it."""
    x, y = (b.each("abs", each) for each in z)
    large, ratio = _scaled(b, z)
    whole = b.each("sqrt", b.add(b.multiply(ratio, ratio), 1))
    share = b.select(b.compare("GE", x, y), b.like(x, 1), ratio)
    return b.each("sqrt", large), b.each("sqrt", b.multiply(b.add(whole, share), 0.5))


def rsqrt(b, z):
    """The root of the number scaled to about 1, turned around and over its length."""
    (x, y), (size, unit) = z, _root_of_unit(b, z)
    _, ratio = _scaled(b, z)
    whole = b.each("sqrt", b.add(b.multiply(ratio, ratio), 1))
    share = b.select(b.compare("GE", b.each("abs", y), b.each("abs", x)), b.like(y, 1), ratio)
    small = b.divide(b.multiply(share, 0.5), unit)
    right = b.compare("GE", x, 0)
    real, imaginary = b.select(right, unit, small), b.select(right, small, unit)
    scale = b.multiply(whole, size)
    real, imaginary = b.divide(real, scale), b.divide(imaginary, scale)
    imaginary = b.select(b.compare("EQ", size, 0), b.like(size, float("nan")), imaginary)
    return real, b.each("negate", _signed(b, imaginary, y))


def _circle_and_hyperbola(b, z):
    """Sine and cosine of x, the hyperbolic ones of y: by e^y - 1, so that small numbers keep their digits; and what a product of theirs is."""
    x = z[0]
    distance, whole = _halved_beyond(b, b.each("abs", z[1]))
    y = _signed(b, distance, z[1])
    up, down = b.each("exponential_minus_one", y), b.each("exponential_minus_one", b.each("negate", y))
    sinh = b.multiply(b.subtract(up, down), 0.5)
    cosh = b.multiply(b.add(b.add(up, down), 2), 0.5)
    return (b.each("sine", x), b.each("cosine", x)), (sinh, cosh), lambda one, other: whole(b.multiply(cosh, 2), b.multiply(one, other))


def sine(b, z):
    (sine, cosine), (sinh, cosh), multiply = _circle_and_hyperbola(b, z)
    return multiply(sine, cosh), multiply(cosine, sinh)


def cosine(b, z):
    (sine, cosine), (sinh, cosh), multiply = _circle_and_hyperbola(b, z)
    return multiply(cosine, cosh), b.each("negate", multiply(sine, sinh))


def tan(b, z):
    """tan(x + iy) = -i tanh(-y + ix)."""
    real, imaginary = tanh(b, (b.each("negate", z[1]), z[0]))
    return imaginary, b.each("negate", real)


def tanh(b, z):
    """By t = tanh x and tan y as sine and cosine: (t + i tan y) / (1 + i t tan y), multiplied by cosines. Far out it is 1 or -1."""
    x, y = z
    t, sine, cosine = b.each("tanh", x), b.each("sine", y), b.each("cosine", y)
    # 1 - t², exactly where t is near 1: 4 e^(-2|x|) / (1 + e^(-2|x|))².
    fallen = b.each("exponential", b.multiply(b.each("abs", x), -2))
    rest = b.divide(b.multiply(fallen, 4), b.multiply(b.add(fallen, 1), b.add(fallen, 1)))
    below = b.add(b.multiply(cosine, cosine), b.multiply(b.multiply(t, t), b.multiply(sine, sine)))
    real, imaginary = b.divide(t, below), b.divide(b.multiply(b.multiply(sine, cosine), rest), below)
    far = b.compare("EQ", b.each("abs", x), INFINITE)
    return b.select(far, t, real), b.select(far, b.like(y, 0), _unless_zero(b, y, imaginary))


def logistic(b, z):
    """1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2."""
    real, imaginary = tanh(b, tuple(b.multiply(each, 0.5) for each in z))
    return b.multiply(b.add(real, 1), 0.5), b.multiply(imaginary, 0.5)


def power(b, z, w):
    """z^w = e^(w log z); to the power 0 it is 1, whatever it is, so is 1 to any power, and 0 to a positive one 0."""
    large, _ = _scaled(b, z)
    nothing = b.compare("EQ", large, 0)
    of = log(b, tuple(b.select(nothing, b.like(each, 1), each) for each in z))
    is_real = b.compare("EQ", w[1], 0)
    # Of real numbers above zero the imaginary part stays zero, where they are infinite, too.
    alone = b.both(b.both(is_real, b.compare("EQ", w[0], w[0])), b.both(b.compare("EQ", z[1], 0), b.compare("GT", z[0], 0)))
    none, zero = b.like(large, float("nan")), b.like(large, 0)
    x, y = product(b, w, of)
    real, imaginary = exponential(b, (b.select(alone, b.multiply(w[0], of[0]), x), b.select(alone, zero, y)))
    rises = b.both(is_real, b.compare("GT", w[0], 0))
    real, imaginary = (b.select(nothing, b.select(rises, zero, none), each) for each in (real, imaginary))
    one = b.either(b.both(is_real, b.compare("EQ", w[0], 0)), b.both(b.compare("EQ", z[0], 1), b.compare("EQ", z[1], 0)))
    return b.select(one, b.like(real, 1), real), b.select(one, zero, imaginary)


def atan2(b, z, w):
    """-i log((w + iz) / √(w² + z²))."""
    square = [b.add(*both) for both in zip(product(b, w, w), product(b, z, z))]
    around = b.subtract(w[0], z[1]), b.add(w[1], z[0])
    real, imaginary = log(b, divide(b, around, sqrt(b, square)))
    return imaginary, b.each("negate", real)


def sign(b, z):
    size = length(b, z)
    size = b.select(b.compare("EQ", size, 0), b.like(size, 1), size)
    return tuple(b.divide(each, size) for each in z)


def is_finite(b, z):
    return b.both(*(b.compare("LT", b.each("abs", each), INFINITE) for each in z))


# By the name of StableHLO's operation.
FUNCTIONS = {"multiply": product, "divide": divide, "abs": length, "exponential": exponential, "log": log, "sqrt": sqrt, "rsqrt": rsqrt,
             "exponential_minus_one": exponential_minus_one, "log_plus_one": log_plus_one, "sine": sine, "cosine": cosine, "tan": tan,
             "tanh": tanh, "logistic": logistic, "power": power, "atan2": atan2, "sign": sign, "is_finite": is_finite}
