"""What JAX asks LAPACK for, and Fourier transforms, as commands of the plugins `lapack` and `fft` (modules/libraries).

A command is declared once for all shapes: its tensors are flat and of unknown size, and numbers tell the rest. The sizes of its
results come first among them, for the program to make room; then batch, rows, columns and what the routine has besides; then the
attributes of JAX's call as numbers, in the order of their names.
"""
import re

from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder, element_of, shape_of, tensor_type
from .sorting import replace

LIBRARIES = ("fft", "lapack")
ROUTINE = re.compile(r"lapack_([sd])(potrf|getrf|trsm|geqrf|orgqr|syevd|gesdd)_ffi$")


def lapack_routine(op, libraries):
    """The routine that a call names, if it is one that the library is asked for."""
    found = ROUTINE.match(ir.StringAttr(op.attributes["call_target_name"]).value) if "lapack" in libraries else None
    return found.group(1) + found.group(2) if found else None


def lower_lapack(op, module, routine):
    b = Builder.before(op)
    # A triangular solve is told by what it solves for, the others by their matrix.
    matrix = shape_of(op.operands[1] if routine.endswith("trsm") else op.operands[0])
    last = shape_of(op.operands[1])[-1] if routine.endswith("orgqr") else 0
    letters = [ir.IntegerAttr(value).value for _, value in sorted(entries(op.attributes["mhlo.backend_config"]).items())]
    numbers = [product(matrix[:-2]), *matrix[-2:], last, *letters]
    replace(op, call_command(b, module, "lapack." + routine, list(op.operands), [each.type for each in op.results], numbers))


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
