"""JAX's calls for eigenvalues of symmetric matrices and for singular values: in rounds (spectral.py), and of real matrices by a core."""
import math

from jaxlib.mlir import ir

from . import eigenvalues_on_cores, singular_values_on_cores
from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .factorizations import adjoint, is_complex
from .matrices import sum_over
from .on_cores import call_either, module_of
from .sorting import replace
from .spectra_on_cores import is_for_cores
from .spectral import eigenvectors, singular_vectors


def lower_eigh(op, config):
    b = Builder.before(op)
    _refuse_unknown_sizes(op, "eigenvalues")
    a, is_lower = op.operands[0], ir.IntegerAttr(config["uplo"]).value == ord("L")
    if not _is_for_cores(a):
        values, vectors = eigenvectors(b, a, is_lower)
    else:
        with_vectors = _is_read(op.results[0])
        values, *vectors = _of_one_core(
            b, "eigenvalues", a, lambda shape: eigenvalues_on_cores.Shapes(shape, str(element_of(a)), with_vectors),
            lambda inner, a: eigenvectors(inner, a, is_lower), lambda name, shapes: eigenvalues_on_cores.eigenvalues(name, shapes, is_lower))
        vectors = vectors[0] if vectors else b.like(a, 0)
    replace(op, [vectors, values, _information(b, values)])


def lower_svd(op, config):
    b = Builder.before(op)
    _refuse_unknown_sizes(op, "singular values")
    a, mode = op.operands[0], chr(ir.IntegerAttr(config["mode"]).value)
    with_vectors = mode != "N" and any(map(_is_read, list(op.results)[2:4]))

    def in_rounds(inner, a):
        values, u, v = singular_vectors(inner, a, mode == "A")
        return values, u, adjoint(inner, v)
    if not _is_for_cores(a):
        values, *vectors = in_rounds(b, a)
    else:
        values, *vectors = _of_one_core(
            b, "singular_values", a, lambda shape: singular_values_on_cores.Shapes(shape, str(element_of(a)), with_vectors, mode == "A"),
            in_rounds, singular_values_on_cores.singular_values)
    # What nobody reads may have any numbers.
    given = [a, values, *(vectors if with_vectors else [None, None]), _information(b, values)]
    wanted = [shape_of(each) for each in op.results]
    replace(op, [b.full(shape, 0, element_of(a)) if value is None else value for value, shape in zip(given, wanted)])


def _shape_of_matrices(a):
    return [math.prod(shape_of(a)[:-2]), *shape_of(a)[-2:]]


def _is_for_cores(a):
    """Whether a core has a form of its own."""
    return not is_complex(a) and 0 not in shape_of(a) and is_for_cores(str(element_of(a)), min(shape_of(a)[-2:]))


# What JAX puts behind a call in any case: numbers that are none, where there is no result.
OF_ONE_VALUE = {f"stablehlo.{name}" for name in ("select", "transpose", "reshape", "broadcast_in_dim")}


def _is_read(value):
    """Whether anything is made of it that somebody reads."""
    return any(use.owner.name not in OF_ONE_VALUE or _is_read(use.owner.results[0]) for use in value.uses)


# Forms ------------------------------------------------------------------------------------------------------------------


def _of_one_core(b, kind, a, shapes_of, rounds, one_core):
    """The values of matrices, and their vectors where they are wanted, of what `rounds` or the kernel `one_core` makes. The kernel of a large
    matrix gives its memory instead, which vectors are the first rows of, and is called for one after another."""
    matrices = b.reshape(a, _shape_of_matrices(a))
    shapes, one = shapes_of(shape_of(matrices)), shapes_of([1, *shape_of(a)[-2:]])
    kinds = [tensor_type(each, element_of(a)) for each in (shapes.values, *shapes.vectors)]

    def in_rounds(inner, given):
        return list(rounds(inner, given[0]))[:len(kinds)]

    def of_one(inner, matrix):
        memory = [tensor_type(each, element_of(a)) for each in one.results]
        made = call_either(inner, module_of(b), f"{kind}_in_memory", [matrix], memory,
                           lambda far, given: _with_memory(far, one, in_rounds(far, given)), lambda name: one_core(name, one))
        return [made[0], *_out_of_memory(inner, one, made[1:])]

    def one_by_one(inner, given):
        if shapes.count == 1:
            return of_one(inner, given[0])

        def step(s, carried):
            k, *made = carried
            begin = [k, s.scalar(0), s.scalar(0)]
            new = of_one(s, s.dynamic_slice(given[0], begin, [1, *shape_of(a)[-2:]]))
            return [s.add(k, s.scalar(1)), *(s.dynamic_update_slice(old, each, begin[:len(shape_of(each))]) for old, each in zip(made, new))]
        begin = [inner.full(list(each.shape), 0, each.element_type) for each in kinds]
        return inner.loop([inner.scalar(0), *begin], lambda s, carried: s.compare("LT", carried[0], s.scalar(shapes.count)), step)[1:]

    if not shapes.has_room:
        made = call_either(b, module_of(b), kind, [matrices], kinds, in_rounds, on_cores=one_by_one)
    else:
        results = [tensor_type(each, element_of(a)) for each in shapes.results]
        made = call_either(b, module_of(b), kind, [matrices], results, lambda inner, given: [
            inner.reshape(each, of) for each, of in zip(in_rounds(inner, given), shapes.results)], lambda name: one_core(name, shapes))
    return [b.reshape(each, [*shape_of(a)[:-2], *of[1:]]) for each, of in zip(made, (shapes.values, *shapes.vectors))]


def _with_memory(b, shapes, made):
    memory = [b.full(each, 0, element_of(made[0])) for each in shapes.memory]
    for vectors, (are_columns, place) in zip(made[1:], shapes.places):
        rows = b.transpose(vectors, [0, 2, 1]) if are_columns else vectors
        rows = b.reshape(rows, shape_of(rows)[1:])
        memory[place] = b.pad(rows, 0, [0] * 2, [size - mine for size, mine in zip(shapes.memory[place], shape_of(rows))])
    return [made[0], *memory]


def _out_of_memory(b, shapes, memory):
    for shape, (are_columns, place) in zip(shapes.vectors, shapes.places):
        sizes = shape[:0:-1] if are_columns else shape[1:]
        vectors = b.slice(memory[place], [0, 0], sizes)
        yield b.reshape(b.transpose(vectors, [1, 0]) if are_columns else vectors, shape)


def _information(b, values):
    """Of LAPACK: not 0 where there is no result, which JAX makes NaNs of."""
    total = sum_over(b, values, -1)
    return b.convert(b.compare("NE", total, total), ir.IntegerType.get_signless(32))


def _refuse_unknown_sizes(op, what):
    if has_unknown_sizes(op.operands[0]):
        raise NotImplementedError(f"{what} of matrices whose sizes are not known are not lowered: give them sizes")


CALLS = {f"lapack_{name}_ffi": lower_eigh for name in ("ssyevd", "dsyevd", "cheevd", "zheevd")}
CALLS |= {f"lapack_{kind}{name}_ffi": lower_svd for kind in "sdcz" for name in ("gesdd", "gesvd")}
