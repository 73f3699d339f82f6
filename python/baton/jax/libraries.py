"""What JAX asks LAPACK for, and Fourier transforms, as commands of the plugins `lapack`, `cusolver` and `fft` (modules/libraries).

A command is declared once for all shapes: its tensors are flat and of unknown size, and numbers tell the rest. The sizes of its
results come first among them, for the program to make room; then batch, rows, columns and what the routine has besides; then the
attributes of JAX's call as numbers, in the order of their names.
"""
import re

from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .sorting import replace

LIBRARIES = ("cusolver", "fft", "lapack")
ROUTINE = re.compile(r"lapack_([sd])(potrf|getrf|trsm|geqrf|orgqr|syevd|gesdd)_ffi$")


def lower_routine(op, module, libraries):
    """A call of LAPACK becomes one of a library that is asked for, if one takes it."""
    found = ROUTINE.match(ir.StringAttr(op.attributes["call_target_name"]).value)
    if not found or has_unknown_sizes(*op.operands):
        return
    letter, name = found.groups()
    if "lapack" in libraries:
        lower_lapack(op, module, letter + name)
    elif "cusolver" in libraries and is_worth_it(name, shape_of(op.operands[0])):
        config = {key: ir.IntegerAttr(value).value for key, value in entries(op.attributes["mhlo.backend_config"]).items()}
        replace(op, CUSOLVER[name](_Turned(op, module, letter), config))


def lower_lapack(op, module, routine):
    b = Builder.before(op)
    # A triangular solve is told by what it solves for, the others by their matrix.
    matrix = shape_of(op.operands[1] if routine.endswith("trsm") else op.operands[0])
    last = shape_of(op.operands[1])[-1] if routine.endswith("orgqr") else 0
    letters = [ir.IntegerAttr(value).value for _, value in sorted(entries(op.attributes["mhlo.backend_config"]).items())]
    numbers = [product(matrix[:-2]), *matrix[-2:], last, *letters]
    replace(op, call_command(b, module, "lapack." + routine, list(op.operands), [each.type for each in op.results], numbers))


# cuSOLVER ---------------------------------------------------------------------------------------------------------------
#
# It holds matrices column by column, so that what is a matrix here is its transpose there: other triangles and sides are asked
# for where that is all the difference, and kernels turn the rest.

CAPTURED_MAX = 256  # Eigenvalues of larger matrices wait for the device.


def is_worth_it(name, shape):
    """Generated code does all matrices of a batch at once, and small ones in one kernel each; cuSOLVER does one after the other. What
    converges takes generated code many rounds, and cuSOLVER does batches of eigenvalues at once, too."""
    batch, least = product(shape[:-2]), min(shape[-2:])
    if name == "syevd":
        return True
    return batch <= 16 if name == "gesdd" else batch <= 4 and least > 32


OTHER = {ord("L"): ord("U"), ord("U"): ord("L")}
OTHER_SIDE = {ord("L"): ord("R"), ord("R"): ord("L")}


class _Turned:
    """One call of LAPACK, as one of cuSOLVER."""

    def __init__(self, op, module, letter):
        self.b, self.module, self.letter = Builder.before(op), module, letter
        self.given, self.wanted = list(op.operands), [each.type for each in op.results]

    def call(self, name, operands, results, numbers):
        return call_command(self.b, self.module, f"cusolver.{self.letter}{name}", operands, results, numbers)

    def sizes(self, operand=0):
        """The batch, and the matrix's rows and columns."""
        shape = shape_of(self.given[operand])
        return product(shape[:-2]), *shape[-2:]

    def turn(self, value):
        rank = len(shape_of(value))
        return self.b.transpose(value, [*range(rank - 2), rank - 1, rank - 2])


def turned_type(type_):
    shape = list(ir.RankedTensorType(type_).shape)
    return tensor_type([*shape[:-2], shape[-1], shape[-2]], ir.RankedTensorType(type_).element_type)


def _potrf(it, config):
    """By the lower triangle, which takes cuSOLVER half as long as the upper one; our upper one is that."""
    batch, order, _ = it.sizes()
    if config["uplo"] == ord("U"):
        return it.call("potrf", it.given, it.wanted, [batch, order, ord("L")])
    factor, info = it.call("potrf", [it.turn(it.given[0])], it.wanted, [batch, order, ord("L")])
    return [it.turn(factor), info]


def _getrf(it, config):
    packed, *rest = it.call("getrf", [it.turn(it.given[0])], [turned_type(it.wanted[0]), *it.wanted[1:]], it.sizes())
    return [it.turn(packed), *rest]


def _trsm(it, config):
    batch, rows, columns = it.sizes(1)
    return it.call("trsm", it.given, it.wanted, [batch, columns, rows, config["diag"], OTHER_SIDE[config["side"]], config["trans_x"], OTHER[config["uplo"]]])


def _geqrf(it, config):
    packed, taus = it.call("geqrf", [it.turn(it.given[0])], [turned_type(it.wanted[0]), it.wanted[1]], it.sizes())
    return [it.turn(packed), taus]


def _orgqr(it, config):
    a, taus = it.given
    return [it.turn(it.call("orgqr", [it.turn(a), taus], [turned_type(it.wanted[0])], [*it.sizes(), shape_of(taus)[-1]])[0])]


def _syevd(it, config):
    batch, order, _ = it.sizes()
    name = "syevd" if order <= CAPTURED_MAX else "syevd_large"
    vectors, *rest = it.call(name, it.given, it.wanted, [batch, order, config["mode"], OTHER[config["uplo"]]])
    return [it.turn(vectors), *rest]


def _gesdd(it, config):
    """Of the transpose: what are its U and V are V and U here, and its U, column by column, is V's transpose."""
    batch, rows, columns = it.sizes()
    a, s, u, vt, info = it.wanted
    a, s, vt, u, info = it.call("gesvdj", it.given, [a, s, vt, turned_type(u), info], [batch, columns, rows, config["mode"]])
    return [a, s, it.turn(u), vt, info]


CUSOLVER = {"potrf": _potrf, "getrf": _getrf, "trsm": _trsm, "geqrf": _geqrf, "orgqr": _orgqr, "syevd": _syevd, "gesdd": _gesdd}


# Transforms -------------------------------------------------------------------------------------------------------------


def call_fft(b, module, kind, parts, made, lengths):
    """`parts` and `made`: real tensors, and their types."""
    rank = len(lengths)
    batch = product(shape_of(parts[0])[:-rank])
    numbers = [batch, *lengths, *[0] * (3 - rank)]
    name = {"FFT": "c2c", "IFFT": "c2c", "RFFT": "r2c", "IRFFT": "c2r"}[kind]
    numbers += [int(kind == "IFFT")] if name == "c2c" else []
    element = "f64" if isinstance(element_of(parts[0]), ir.F64Type) else "f32"
    return call_command(b, module, f"fft.{name}_{element}", parts, made, numbers)


def product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


def call_command(b, module, name, operands, results, numbers):
    """Values of the types `results`."""
    unknown = ir.ShapedType.get_dynamic_size()
    flat = [tensor_type([unknown], element_of(each)) for each in operands]
    made = [tensor_type([unknown], ir.RankedTensorType(each).element_type) for each in results]
    given = []
    for value, type_ in zip(operands, flat):
        line = b.reshape(value, [product(shape_of(value))])
        given.append(b.value("tensor.cast", [line], type_))
    counts = [product(ir.RankedTensorType(each).shape) for each in results]
    given += [_number(b, count, ir.IndexType.get()) for count in counts]
    given += [_number(b, number, ir.IntegerType.get_signless(64)) for number in numbers]
    _declare(module, b.location, name, [each.type for each in given], made, len(operands))
    call = b.operation("func.call", given, made, {"callee": ir.FlatSymbolRefAttr.get(name)})
    values = []
    for value, count, wanted in zip(call.results, counts, results):
        line = b.value("tensor.cast", [value], tensor_type([count], element_of(value)))
        values.append(b.reshape(line, list(ir.RankedTensorType(wanted).shape)))
    return values


def _number(b, number, type_):
    return b.value("arith.constant", [], type_, {"value": ir.IntegerAttr.get(type_, number)})


def _declare(module, location, name, inputs, results, first_count):
    if any(each.operation.name == "func.func" and each.operation.attributes["sym_name"].value == name for each in module.body.operations):
        return
    index = ir.IndexType.get()
    dims = [ir.DictAttr.get({"iree.abi.dims": ir.ArrayAttr.get([ir.IntegerAttr.get(index, first_count + i)])}) for i in range(len(results))]
    attributes = {"sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results)),
                  "sym_visibility": ir.StringAttr.get("private"), "iree.abi.streamable": ir.UnitAttr.get(), "res_attrs": ir.ArrayAttr.get(dims)}
    ir.Operation.create("func.func", attributes=attributes, regions=1, loc=location, ip=ir.InsertionPoint.at_block_begin(module.body))
