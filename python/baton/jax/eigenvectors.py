"""Eigenvalues and eigenvectors of any matrix, from its Schur form (schur.py): blocks of two become triangles, of complex numbers; then
vectors of the triangle are found from the last row up, all at once.
"""
from jaxlib.mlir import ir

from .blocked import product
from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .factorizations import adjoint, conjugate, divided, is_complex, magnitude, part, real, with_zero
from .matrices import along, columns_of, precision, rows_of, scaled, squares_of, sum_over
from .reflections import infos
from .schur import Schur, pairs_turned, shifted, unit
from .sorting import replace


def eigenvalues(b, made):
    """Of a form: complex ones, or real and imaginary parts where the form is real."""
    diagonal, below, beside = made.lines(b, made.form)
    if is_complex(made.form):
        return [diagonal]
    # Of [[x, b], [c, x]] they are x +- sqrt(b c); the roots of b and of c do not become too small for a number.
    size = b.multiply(b.each("sqrt", b.each("abs", below)), b.each("sqrt", b.each("abs", beside)))
    size = b.select(b.compare("NE", below, 0), size, b.like(size, 0))
    return [diagonal, b.subtract(size, shifted(b, size) if made.size > 1 else b.like(size, 0))]


def _complex_form(b, made, values):
    """The triangle with `values` on its diagonal, and the matrix of columns."""
    form, vectors = made.form, made.vectors
    if not is_complex(form):
        both = b.concatenate([form, vectors], 1)
        both = b.value("stablehlo.complex", [both, b.like(both, 0)], tensor_type(shape_of(both), ir.ComplexType.get(element_of(both))))
        both = pairs_turned(b, made, both, 1, _turned_to_triangle) if made.size > 1 else both
        form, vectors = rows_of(b, both, 0, made.size), rows_of(b, both, made.size, 2 * made.size)
    row, column = b.iota(shape_of(form), 1), b.iota(shape_of(form), 2)
    form = b.select(b.compare("EQ", row, column), along(b, values, shape_of(form), 1), form)
    return b.select(b.compare("LE", row, column), form, b.like(form, 0)), vectors


def _turned_to_triangle(b, block):
    """A block with a pair of eigenvalues, in standard form: the one above the real line comes first."""
    _, high, low, _ = block
    is_block = b.compare("NE", real(b, low), 0)
    away = b.each("sqrt", b.each("abs", b.multiply(real(b, high), real(b, low))))
    cosine, sine = unit(b, away, real(b, low))
    cosine, sine = b.select(is_block, cosine, b.like(cosine, 1)), b.select(is_block, sine, b.like(sine, 0))
    # p is the conjugate of i * cosine: the eigenvector is (i * cosine, sine).
    none = b.like(cosine, 0)
    turned, straight = b.select(is_block, b.each("negate", cosine), none), b.select(is_block, none, cosine)
    p = b.value("stablehlo.complex", [straight, turned], low.type)

    def finish(now):
        return now[0], now[1], b.like(now[2], 0), now[3]

    return p, with_zero(b, sine, low), finish


def _vectors_of_triangle(b, form, values):
    """Columns x with form x = value x, each with its largest number about one: from the last row up, all columns at once. Where two
    eigenvalues are nearly equal their difference is what rounding makes of it."""
    count, size, _ = shape_of(form)
    rounding = precision(form) if not is_complex(form) else precision(real(b, form))
    tiny = 1e-290 if rounding < 1e-10 else 1e-30
    least = b.maximum(b.multiply(magnitude(b, values), rounding), b.like(magnitude(b, values), tiny))
    place = b.iota([count, size], 1)

    def step(s, carried):
        k, x = carried
        none = s.scalar(0)
        row = s.dynamic_slice(form, [none, k, none], [count, 1, size])
        left = s.reshape(product(s, row, x), [count, size])
        where = s.broadcast(k, shape_of(place), [])
        mine = sum_over(s, s.select(s.compare("EQ", place, where), values, s.like(values, 0)), -1)
        away = s.subtract(along(s, mine, shape_of(values), 0), values)
        away = s.select(s.compare("LT", magnitude(s, away), least), with_zero(s, least, away), away)
        found = s.each("negate", s.each("divide", left, away))
        is_one = s.compare("EQ", place, where)
        found = s.select(s.compare("GT", place, where), found, s.select(is_one, s.like(found, 1), s.like(found, 0)))
        size_now = s.maximum(magnitude(s, found), s.like(least, 1))
        x = s.dynamic_update_slice(x, s.reshape(found, [count, 1, size]), [none, k, none])
        return [s.subtract(k, s.scalar(1)), divided(s, x, along(s, size_now, shape_of(x), 1))]

    start = [b.scalar(size - 1), b.like(form, 0)]
    return b.loop(start, lambda s, carried: s.compare("GE", carried[0], s.scalar(0)), step)[1]


def _turned_round(b, a):
    """Rows and columns from the last to the first."""
    return b.reverse(a, [1, 2])


def right_vectors(b, form, vectors, values):
    return _normal(b, product(b, vectors, _vectors_of_triangle(b, form, values)))


def left_vectors(b, form, vectors, values):
    """u with u* a = value u*: of the triangle's adjoint, which is a triangle from the other end."""
    found = _vectors_of_triangle(b, _turned_round(b, adjoint(b, form)), b.reverse(conjugate(b, values), [1]))
    return _normal(b, product(b, vectors, _turned_round(b, found)))


def _normal(b, vectors):
    """Columns of length one whose largest number is real."""
    shape = shape_of(vectors)
    sizes = squares_of(b, vectors)
    vectors = divided(b, vectors, _lengths(b, vectors))
    largest = along(b, b.reduce("maximum", sizes, 0, 1), shape, 1)
    row = b.iota(shape, 1)
    place = b.reduce("minimum", b.select(b.compare("EQ", sizes, largest), row, b.like(row, shape[1])), shape[1], 1)
    chosen = sum_over(b, b.select(b.compare("EQ", row, along(b, place, shape, 1)), vectors, b.like(vectors, 0)), -2)
    size = b.each("sqrt", squares_of(b, chosen))
    phase = divided(b, conjugate(b, chosen), b.select(b.compare("GT", size, 0), size, b.like(size, 1)))
    return b.each("multiply", vectors, along(b, phase, shape, 1))


def _lengths(b, vectors):
    """Of each column, in each of its places."""
    return along(b, b.each("sqrt", sum_over(b, squares_of(b, vectors), -2)), shape_of(vectors), 1)


def _of_real_matrix(b, vectors, imaginary):
    """Those of real eigenvalues are real, and the second one of a pair is the first one's conjugate. What is not real in the former is
    what rounding made of it, which may be much where other eigenvalues are as near as rounding."""
    count, size, _ = shape_of(vectors)
    if size > 1:
        before = b.pad(columns_of(b, vectors, 0, size - 1), 0, [0, 0, 1], [0, 0, 0])
        is_second = along(b, b.compare("LT", imaginary, 0), shape_of(vectors), 1)
        vectors = b.select(is_second, conjugate(b, before), vectors)
    is_real = along(b, b.compare("EQ", imaginary, 0), shape_of(vectors), 1)
    vectors = b.select(is_real, with_zero(b, real(b, vectors), vectors), vectors)
    return divided(b, vectors, _lengths(b, vectors))


# JAX's calls ------------------------------------------------------------------------------------------------------------------------


def _made(b, op, what, wants_vectors):
    """The matrix as one of a batch of one dimension, divided by its scale; that, and its form."""
    a = op.operands[0]
    if has_unknown_sizes(a):
        raise NotImplementedError(f"{what} of matrices whose sizes are not known: not lowered; give them sizes")
    shape = shape_of(a)
    count = 1
    for size in shape[:-2]:
        count *= size
    a, scale = scaled(b, b.reshape(a, [count, *shape[-2:]]))
    return a, scale, Schur(b, a, wants_vectors)


def _information(b, a, made):
    """Of LAPACK: not 0 where there is no result, which JAX makes NaNs of."""
    total = sum_over(b, sum_over(b, magnitude(b, a), -1), -1)
    return b.convert(b.either(made.is_left, b.compare("NE", b.subtract(total, total), 0)), ir.IntegerType.get_signless(32))


def _times(b, values, scale):
    wide = along(b, scale, shape_of(values), 0)
    if not is_complex(values):
        return b.multiply(values, wide)
    return b.value("stablehlo.complex", [b.multiply(part(b, name, values), wide) for name in ("real", "imag")], values.type)


def _replaced(b, op, values):
    replace(op, [b.convert(b.reshape(value, shape_of(result)), element_of(result)) for value, result in zip(values, op.results)])


def _nothing_to_do(b, op):
    """Of matrices without elements."""
    if 0 not in shape_of(op.operands[0]):
        return False
    replace(op, infos(b, op, 0))
    return True


def lower_gees(op, config):
    b = Builder.before(op)
    if _nothing_to_do(b, op):
        return
    a, scale, made = _made(b, op, "the Schur form", ir.IntegerAttr(config["mode"]).value == ord("V"))
    information = _information(b, a, made)
    values = [_times(b, each, scale) for each in eigenvalues(b, made)]
    selected = b.like(information, 0)
    vectors = b.like(made.form, 0) if made.vectors is None else made.vectors
    _replaced(b, op, [_times(b, made.form, scale), vectors, *values, selected, information])


def lower_geev(op, config):
    b = Builder.before(op)
    if _nothing_to_do(b, op):
        return
    asked = [ir.IntegerAttr(config[name]).value == ord("V") for name in ("compute_left", "compute_right")]
    a, scale, made = _made(b, op, "eigenvalues", any(asked))
    values = eigenvalues(b, made)
    complex_type = ir.ComplexType.get(element_of(scale))
    whole = values[0] if len(values) == 1 else b.value("stablehlo.complex", values, tensor_type(shape_of(values[0]), complex_type))
    form, columns = _complex_form(b, made, whole) if any(asked) else (None, None)
    vectors = []
    for is_asked, find in zip(asked, (left_vectors, right_vectors)):
        found = find(b, form, columns, whole) if is_asked else b.full(shape_of(a), 0, complex_type)
        vectors.append(_of_real_matrix(b, found, values[1]) if is_asked and len(values) == 2 else found)
    _replaced(b, op, [*(_times(b, each, scale) for each in values), *vectors, _information(b, a, made)])


CALLS = {f"lapack_{kind}{name}_ffi": lower for kind in "sdcz" for name, lower in (("geev", lower_geev), ("gees", lower_gees))}
