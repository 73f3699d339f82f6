#!/usr/bin/env python3
"""Operations of the upstream dialects, a small function for each: does the compiler take it, and does it compute?

    operations.py make > operations.mlir                                  the program; a function for each operation and form
    operations.py check baton-run-module operations.bvm --device=...      runs them all, and compares with what Python computes

Forms: `host` computes with scalars in the VM, `kernel` with tensors on a device. An operation that the compiler refuses
fails the compilation, which names it; one that computes something else fails the check.
"""
import math
import struct
import subprocess
import sys

INTS, OTHER_INTS = [7, -3, 100, 1], [2, 5, -7, 3]
FLOATS, OTHER_FLOATS, UNIT = [1.5, -2.25, 0.5, 3.0], [2.0, 0.75, -1.5, 1.25], [0.5, -0.25, 0.75, 0.1]
POSITIVE, BIG = [1.5, 2.25, 0.5, 3.0], [1.5, 2.25, 1.25, 3.0]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def wrap(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def unsigned(x, bits=32):
    return x & ((1 << bits) - 1)


def quotient(a, b):  # Rounded to zero.
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def nearest(x):  # Halves away from zero.
    return math.copysign(math.floor(abs(x) + 0.5), x)


# Operations on two integers, on their signed values of 32 bits.
INTEGER = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": quotient,
    "arith.divui": lambda a, b: unsigned(a) // unsigned(b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
    "arith.floordivsi": lambda a, b: a // b,
    "arith.remsi": lambda a, b: a - b * quotient(a, b),
    "arith.remui": lambda a, b: unsigned(a) % unsigned(b),
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "arith.minui": lambda a, b: min(unsigned(a), unsigned(b)),
}
SHIFTS = {
    "arith.shli": lambda a, b: a << b,
    "arith.shrsi": lambda a, b: a >> b,
    "arith.shrui": lambda a, b: unsigned(a) >> b,
}
INTEGER_UNARY = {
    "math.absi": abs,
    "math.ctlz": lambda a: 32 - unsigned(a).bit_length(),
    "math.cttz": lambda a: (a & -a).bit_length() - 1,
    "math.ctpop": lambda a: bin(unsigned(a)).count("1"),
}
FLOAT = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
    "arith.remf": math.fmod,
    "arith.maximumf": max,
    "arith.minimumf": min,
    "arith.maxnumf": max,
    "arith.minnumf": min,
    "math.atan2": math.atan2,
    "math.copysign": math.copysign,
}
# (what is computed, on which numbers)
FLOAT_UNARY = {
    "arith.negf": (lambda a: -a, FLOATS),
    "math.absf": (abs, FLOATS),
    "math.ceil": (math.ceil, FLOATS),
    "math.floor": (math.floor, FLOATS),
    "math.round": (nearest, FLOATS),
    "math.roundeven": (round, FLOATS),
    "math.trunc": (math.trunc, FLOATS),
    "math.exp": (math.exp, FLOATS),
    "math.exp2": (lambda a: 2.0 ** a, FLOATS),
    "math.expm1": (math.expm1, FLOATS),
    "math.log": (math.log, POSITIVE),
    "math.log2": (math.log2, POSITIVE),
    "math.log10": (math.log10, POSITIVE),
    "math.log1p": (math.log1p, POSITIVE),
    "math.sqrt": (math.sqrt, POSITIVE),
    "math.rsqrt": (lambda a: 1 / math.sqrt(a), POSITIVE),
    "math.cbrt": (lambda a: math.copysign(abs(a) ** (1 / 3), a), FLOATS),
    "math.sin": (math.sin, FLOATS),
    "math.cos": (math.cos, FLOATS),
    "math.tan": (math.tan, UNIT),
    "math.asin": (math.asin, UNIT),
    "math.acos": (math.acos, UNIT),
    "math.atan": (math.atan, FLOATS),
    "math.sinh": (math.sinh, FLOATS),
    "math.cosh": (math.cosh, FLOATS),
    "math.tanh": (math.tanh, FLOATS),
    "math.asinh": (math.asinh, FLOATS),
    "math.acosh": (math.acosh, BIG),
    "math.atanh": (math.atanh, UNIT),
    "math.erf": (math.erf, FLOATS),
}
ORDER = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
         "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}

cases = []  # (name, lines of the body, result type, expected numbers)


def dense(values, kind):
    return "dense<[%s]> : tensor<%dx%s>" % (", ".join(str(float(v) if kind[0] == "f" else v) for v in values), len(values), kind)


def literal(value, kind):
    return "%s : %s" % (float(value) if kind[0] == "f" else value, kind)


def elementwise(name, line, operands, result_kind, expected):
    """`line` with %0, %1, ... and {i} for the type of an operand, {r} for the result's: as tensors and as a scalar."""
    name = name.replace(".", "_").replace(" ", "_")
    for form, count in (("kernel", len(operands[0][0])), ("host", 1)):
        def shape(kind):
            return "tensor<%dx%s>" % (count, kind) if form == "kernel" else kind
        body = []
        for i, (values, kind) in enumerate(operands):
            value = dense(values, kind) if form == "kernel" else literal(values[0], kind)
            body.append("%%%d = util.unfoldable_constant %s" % (i, value))
        types = {"t%d" % i: shape(kind) for i, (_, kind) in enumerate(operands)}
        body.append("%r = " + line.format(r=shape(result_kind), bool=shape("i1"), **types))
        cases.append((form + "_" + name, body, shape(result_kind), expected[:count], result_kind))


def add_elementwise():
    for op, compute in INTEGER.items():
        elementwise(op, op + " %0, %1 : {t0}", [(INTS, "i32"), (OTHER_INTS, "i32")], "i32",
                    [wrap(compute(a, b)) for a, b in zip(INTS, OTHER_INTS)])
    for op, compute in SHIFTS.items():
        by = [1, 4, 31, 0]
        elementwise(op, op + " %0, %1 : {t0}", [(INTS, "i32"), (by, "i32")], "i32",
                    [wrap(compute(a, b)) for a, b in zip(INTS, by)])
    for op, compute in INTEGER_UNARY.items():
        elementwise(op, op + " %0 : {t0}", [(INTS, "i32")], "i32", [wrap(compute(a)) for a in INTS])
    for op, compute in FLOAT.items():
        elementwise(op, op + " %0, %1 : {t0}", [(FLOATS, "f32"), (OTHER_FLOATS, "f32")], "f32",
                    [compute(a, b) for a, b in zip(FLOATS, OTHER_FLOATS)])
    for op, (compute, values) in FLOAT_UNARY.items():
        elementwise(op, op + " %0 : {t0}", [(values, "f32")], "f32", [compute(a) for a in values])
    elementwise("math.powf", "math.powf %0, %1 : {t0}", [(POSITIVE, "f32"), (FLOATS, "f32")], "f32",
                [a ** b for a, b in zip(POSITIVE, FLOATS)])
    elementwise("math.fpowi", "math.fpowi %0, %1 : {t0}, {t1}", [(FLOATS, "f32"), ([3, 2, -1, 0], "i32")], "f32",
                [a ** b for a, b in zip(FLOATS, [3, 2, -1, 0])])
    elementwise("math.ipowi", "math.ipowi %0, %1 : {t0}", [(INTS, "i32"), ([3, 2, 1, 0], "i32")], "i32",
                [a ** b for a, b in zip(INTS, [3, 2, 1, 0])])
    elementwise("math.fma", "math.fma %0, %1, %2 : {t0}", [(FLOATS, "f32"), (OTHER_FLOATS, "f32"), (UNIT, "f32")], "f32",
                [a * b + c for a, b, c in zip(FLOATS, OTHER_FLOATS, UNIT)])
    elementwise("arith.select", "arith.select %0, %1, %2 : {bool}, {t1}",
                [([1, 0, 0, 1], "i1"), (INTS, "i32"), (OTHER_INTS, "i32")], "i32", [7, 5, -7, 1])


def add_comparisons():
    def compare(name, op, operands, expected):
        elementwise(name, op + " : {t0}\n    %r = arith.extui %c : {bool} to {r}", operands, "i32", [int(e) for e in expected])
    for word, compute in ORDER.items():
        pairs = list(zip(INTS, OTHER_INTS))
        for sign in ("s", "u") if word not in ("eq", "ne") else ("",):
            compare("arith.cmpi %s%s" % (sign, word), "CMP arith.cmpi %s%s, %%0, %%1" % (sign, word),
                    [(INTS, "i32"), (OTHER_INTS, "i32")],
                    [compute(unsigned(a), unsigned(b)) if sign == "u" else compute(a, b) for a, b in pairs])
        for letter in "ou":
            compare("arith.cmpf %s%s" % (letter, word), "CMP arith.cmpf %s%s, %%0, %%1" % (letter, word),
                    [(FLOATS, "f32"), (OTHER_FLOATS, "f32")],
                    [compute(a, b) for a, b in zip(FLOATS, OTHER_FLOATS)])
    for word, value in (("ord", 1), ("uno", 0), ("true", 1), ("false", 0)):
        compare("arith.cmpf " + word, "CMP arith.cmpf %s, %%0, %%1" % word, [(FLOATS, "f32"), (OTHER_FLOATS, "f32")], [value] * 4)


def add_conversions():
    def convert(op, values, kind, to, compute):
        elementwise("%s %s %s" % (op, kind, to), op + " %0 : {t0} to {r}", [(values, kind)], to, [compute(v) for v in values])
    small = [7, -3, 100, 1]
    for kind, to, bits in (("i8", "i32", 8), ("i16", "i64", 16), ("i32", "i64", 32)):
        convert("arith.extsi", small, kind, to, lambda v: v)
        convert("arith.extui", small, kind, to, lambda v, bits=bits: unsigned(v, bits))
    convert("arith.trunci", [300, -3, 70000, 1], "i32", "i8", lambda v: wrap(v, 8))
    convert("arith.trunci", [300, -3, 1 << 33, 1], "i64", "i32", wrap)
    convert("arith.extf", FLOATS, "f32", "f64", lambda v: v)
    convert("arith.truncf", FLOATS, "f64", "f32", lambda v: v)
    convert("arith.sitofp", INTS, "i32", "f32", float)
    convert("arith.uitofp", INTS, "i32", "f64", lambda v: float(unsigned(v)))
    convert("arith.fptosi", FLOATS, "f32", "i32", math.trunc)
    convert("arith.fptoui", POSITIVE, "f32", "i32", math.trunc)
    convert("arith.bitcast", FLOATS, "f32", "i32", lambda v: struct.unpack("i", struct.pack("f", v))[0])


def case(name, body, result, expected, kind):
    cases.append((name.replace(".", "_"), [line.strip() for line in body.strip().splitlines()], result, expected, kind))


MATRIX_A, MATRIX_B = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]]


def matrix(values):
    return "dense<[%s]>" % ", ".join("[%s]" % ", ".join(str(v) for v in row) for row in values)


def transposed(rows):
    return [list(row) for row in zip(*rows)]


def product(a, b):
    return [sum(x * y for x, y in zip(row, column)) for row in a for column in transposed(b)]


A = "%a = util.unfoldable_constant " + matrix(MATRIX_A) + " : tensor<2x3xf32>\n"
B = "%b = util.unfoldable_constant " + matrix(MATRIX_B) + " : tensor<3x2xf32>\n"
ZERO = "%z = arith.constant 0.0 : f32\n"


def out(shape, kind="f32"):
    return ZERO + "%%e = tensor.empty() : tensor<%sx%s>\n%%o = linalg.fill ins(%%z : f32) outs(%%e : tensor<%sx%s>) -> tensor<%sx%s>\n" % (
        shape, kind, shape, kind, shape, kind)


def add_products():
    want = product(MATRIX_A, MATRIX_B)
    for op, left, right in (("matmul", MATRIX_A, MATRIX_B), ("matmul_transpose_a", transposed(MATRIX_A), MATRIX_B),
                            ("matmul_transpose_b", MATRIX_A, transposed(MATRIX_B))):
        for batch in (False, True):
            if batch:
                op = "batch_" + op
            lead, wrapped = ("1x", "dense<[%s]>") if batch else ("", "dense<%s>")
            shapes = [lead + "%dx%d" % (len(m), len(m[0])) for m in (left, right)]
            body = "".join("%%%s = util.unfoldable_constant %s : tensor<%sxf32>\n" % (
                which, wrapped % matrix(m)[6:-1], shape) for which, m, shape in zip("lm", (left, right), shapes))
            body += out(lead + "2x2")
            body += "%%r = linalg.%s ins(%%l, %%m : tensor<%sxf32>, tensor<%sxf32>) outs(%%o : tensor<%s2x2xf32>) -> tensor<%s2x2xf32>" % (
                op, shapes[0], shapes[1], lead, lead)
            case("kernel_linalg." + op, body, "tensor<%s2x2xf32>" % lead, want, "f32")
    vector = "%v = util.unfoldable_constant dense<[1.0, 2.0, -1.0]> : tensor<3xf32>\n"
    case("kernel_linalg.matvec", A + vector + out("2") + "%r = linalg.matvec ins(%a, %v : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", [2.0, 8.0], "f32")
    case("kernel_linalg.vecmat", B + vector + out("2") + "%r = linalg.vecmat ins(%v, %b : tensor<3xf32>, tensor<3x2xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>",
         "tensor<2xf32>", [5.0, -4.5], "f32")
    case("kernel_linalg.dot", vector + ZERO + "%e = tensor.empty() : tensor<f32>\n%o = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>\n"
         "%r = linalg.dot ins(%v, %v : tensor<3xf32>, tensor<3xf32>) outs(%o : tensor<f32>) -> tensor<f32>", "tensor<f32>", [6.0], "f32")


def add_linalg():
    flat = sum(MATRIX_A, [])
    empty = "%e = tensor.empty() : tensor<2x3xf32>\n"
    for op, compute in (("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y),
                        ("div", lambda x, y: x / y), ("max", max), ("min", min)):
        case("kernel_linalg." + op, A + "%c = util.unfoldable_constant dense<2.0> : tensor<2x3xf32>\n" + empty +
             "%%r = linalg.%s ins(%%a, %%c : tensor<2x3xf32>, tensor<2x3xf32>) outs(%%e : tensor<2x3xf32>) -> tensor<2x3xf32>" % op,
             "tensor<2x3xf32>", [compute(x, 2.0) for x in flat], "f32")
    for op, compute in (("exp", math.exp), ("log", math.log), ("abs", abs), ("ceil", math.ceil), ("floor", math.floor),
                        ("negf", lambda x: -x), ("sqrt", math.sqrt), ("rsqrt", lambda x: x ** -0.5), ("square", lambda x: x * x),
                        ("reciprocal", lambda x: 1 / x), ("tanh", math.tanh), ("erf", math.erf), ("round", nearest)):
        case("kernel_linalg." + op, A + empty + "%%r = linalg.%s ins(%%a : tensor<2x3xf32>) outs(%%e : tensor<2x3xf32>) -> tensor<2x3xf32>" % op,
             "tensor<2x3xf32>", [compute(x) for x in flat], "f32")
    case("kernel_linalg.copy", A + empty + "%r = linalg.copy ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>",
         "tensor<2x3xf32>", flat, "f32")
    case("kernel_linalg.fill", out("3").replace("%o =", "%r ="), "tensor<3xf32>", [0.0] * 3, "f32")
    case("kernel_linalg.transpose", A + "%e = tensor.empty() : tensor<3x2xf32>\n"
         "%r = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]",
         "tensor<3x2xf32>", sum(transposed(MATRIX_A), []), "f32")
    case("kernel_linalg.broadcast", "%v = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>\n%e = tensor.empty() : tensor<2x3xf32>\n"
         "%r = linalg.broadcast ins(%v : tensor<2xf32>) outs(%e : tensor<2x3xf32>) dimensions = [1]", "tensor<2x3xf32>", [1, 1, 1, 2, 2, 2], "f32")
    case("kernel_linalg.reduce", A + out("2") + "%r = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%o : tensor<2xf32>) dimensions = [1] "
         "(%x: f32, %y: f32) { %s = arith.addf %x, %y : f32 linalg.yield %s : f32 }", "tensor<2xf32>", [6.0, 15.0], "f32")
    case("kernel_linalg.map", A + empty + "%r = linalg.map ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) "
         "(%x: f32) { %s = arith.addf %x, %x : f32 linalg.yield %s : f32 }", "tensor<2x3xf32>", [2 * x for x in flat], "f32")
    case("kernel_linalg.generic_index", "%e = tensor.empty() : tensor<2x3xi32>\n"
         "%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} outs(%e : tensor<2x3xi32>) {\n"
         "^bb0(%x: i32):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%s = affine.apply affine_map<(d0, d1) -> (d0 * 10 + d1)>(%i, %j)\n"
         "%w = arith.index_cast %s : index to i32\nlinalg.yield %w : i32\n} -> tensor<2x3xi32>", "tensor<2x3xi32>", [0, 1, 2, 10, 11, 12], "i32")
    image = [float(i) for i in range(16)]
    nhwc = "%%i = util.unfoldable_constant dense<[[%s]]> : tensor<1x4x4x1xf32>\n" % ", ".join(
        "[%s]" % ", ".join("[%s]" % image[4 * y + x] for x in range(4)) for y in range(4))
    blocks = [[image[4 * (y + dy) + x + dx] for dy in (0, 1) for dx in (0, 1)] for y in range(3) for x in range(3)]
    window = "%w = tensor.empty() : tensor<2x2xf32>\n"
    for op, compute in (("sum", sum), ("max", max)):
        case("kernel_linalg.pooling_nhwc_" + op, nhwc + window + out("1x3x3x1") +
             "%%r = linalg.pooling_nhwc_%s ins(%%i, %%w : tensor<1x4x4x1xf32>, tensor<2x2xf32>) outs(%%o : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>" % op,
             "tensor<1x3x3x1xf32>", [compute(block) for block in blocks], "f32")
    case("kernel_linalg.conv_2d_nhwc_hwcf", nhwc + "%k = util.unfoldable_constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>\n" +
         out("1x3x3x1") + "%r = linalg.conv_2d_nhwc_hwcf ins(%i, %k : tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) outs(%o : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>",
         "tensor<1x3x3x1xf32>", [b[0] + 2 * b[1] + 3 * b[2] + 4 * b[3] for b in blocks], "f32")


def add_tensor():
    flat = sum(MATRIX_A, [])
    case("kernel_tensor.extract_slice", A + "%r = tensor.extract_slice %a[0, 1] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>",
         "tensor<2x2xf32>", [2, 3, 5, 6], "f32")
    case("kernel_tensor.insert_slice", A + "%s = util.unfoldable_constant dense<9.0> : tensor<1x2xf32>\n"
         "%r = tensor.insert_slice %s into %a[1, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<2x3xf32>", "tensor<2x3xf32>", [1, 2, 3, 9, 9, 6], "f32")
    case("kernel_tensor.collapse_shape", A + "%r = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>", "tensor<6xf32>", flat, "f32")
    case("kernel_tensor.expand_shape", A + "%r = tensor.expand_shape %a [[0], [1, 2]] output_shape [2, 3, 1] : tensor<2x3xf32> into tensor<2x3x1xf32>",
         "tensor<2x3x1xf32>", flat, "f32")
    case("kernel_tensor.pad", A + ZERO + "%r = tensor.pad %a low[0, 1] high[1, 0] {\n^bb0(%i: index, %j: index):\ntensor.yield %z : f32\n} : tensor<2x3xf32> to tensor<3x4xf32>",
         "tensor<3x4xf32>", [0, 1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0], "f32")
    case("kernel_tensor.concat", A + "%r = tensor.concat dim(0) %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>", "tensor<4x3xf32>", flat + flat, "f32")
    case("kernel_tensor.splat", "%v = util.unfoldable_constant 2.5 : f32\n%r = tensor.splat %v : tensor<3xf32>", "tensor<3xf32>", [2.5] * 3, "f32")
    case("kernel_tensor.from_elements", "%v = util.unfoldable_constant 2.5 : f32\n%w = util.unfoldable_constant 1.5 : f32\n"
         "%r = tensor.from_elements %v, %w : tensor<2xf32>", "tensor<2xf32>", [2.5, 1.5], "f32")
    case("kernel_tensor.generate", "%r = tensor.generate {\n^bb0(%i: index):\n%w = arith.index_cast %i : index to i32\ntensor.yield %w : i32\n} : tensor<4xi32>",
         "tensor<4xi32>", [0, 1, 2, 3], "i32")
    case("kernel_tensor.cast", A + "%d = tensor.cast %a : tensor<2x3xf32> to tensor<?x3xf32>\n%s = arith.addf %d, %d : tensor<?x3xf32>\n"
         "%r = tensor.cast %s : tensor<?x3xf32> to tensor<2x3xf32>", "tensor<2x3xf32>", [2 * x for x in flat], "f32")
    index = "%i = arith.constant 1 : index\n%j = arith.constant 2 : index\n"
    case("host_tensor.extract", A + index + "%r = tensor.extract %a[%i, %j] : tensor<2x3xf32>", "f32", [6.0], "f32")
    case("kernel_tensor.insert", A + index + "%v = util.unfoldable_constant 9.0 : f32\n%r = tensor.insert %v into %a[%i, %j] : tensor<2x3xf32>",
         "tensor<2x3xf32>", [1, 2, 3, 4, 5, 9], "f32")
    case("host_tensor.dim", A + "%i = arith.constant 1 : index\n%x = util.optimization_barrier %a : tensor<2x3xf32>\n%d = tensor.dim %x, %i : tensor<2x3xf32>\n"
         "%r = arith.index_cast %d : index to i32", "i32", [3], "i32")


def add_control():
    count = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%n = util.unfoldable_constant 5 : index\n%start = util.unfoldable_constant 1 : i32\n"
    case("host_scf.for", count + "%r = scf.for %i = %zero to %n step %one iter_args(%x = %start) -> (i32) {\n%y = arith.addi %x, %x : i32\nscf.yield %y : i32\n}",
         "i32", [32], "i32")
    case("host_scf.if", count + "%c = arith.cmpi sgt, %start, %start : i32\n%t = util.unfoldable_constant 3 : i32\n"
         "%r = scf.if %c -> (i32) {\nscf.yield %start : i32\n} else {\nscf.yield %t : i32\n}", "i32", [3], "i32")
    case("host_scf.while", count + "%hundred = arith.constant 100 : i32\n%r = scf.while (%x = %start) : (i32) -> i32 {\n%c = arith.cmpi slt, %x, %hundred : i32\n"
         "scf.condition(%c) %x : i32\n} do {\n^bb0(%x: i32):\n%y = arith.muli %x, %hundred : i32\nscf.yield %y : i32\n}", "i32", [100], "i32")
    case("host_scf.index_switch", count + "%r = scf.index_switch %n -> i32\ncase 5 {\n%x = arith.constant 50 : i32\nscf.yield %x : i32\n}\n"
         "default {\nscf.yield %start : i32\n}", "i32", [50], "i32")
    case("host_affine.apply", count + "%s = affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0 ceildiv 2)>(%n)[%n]\n%r = arith.index_cast %s : index to i32", "i32", [18], "i32")
    case("host_affine.min", count + "%s = affine.min affine_map<(d0) -> (d0 * 3, 7)>(%n)\n%r = arith.index_cast %s : index to i32", "i32", [7], "i32")
    case("host_affine.max", count + "%s = affine.max affine_map<(d0) -> (d0 * 3, 7)>(%n)\n%r = arith.index_cast %s : index to i32", "i32", [15], "i32")
    case("host_arith.index_castui", "%x = util.unfoldable_constant -1 : i32\n%i = arith.index_castui %x : i32 to index\n%one = arith.constant 1 : index\n"
         "%s = arith.shrui %i, %one : index\n%r = arith.index_cast %s : index to i32", "i32", [0x7fffffff], "i32")


for add in (add_elementwise, add_comparisons, add_conversions, add_products, add_linalg, add_tensor, add_control):
    add()


def print_program():
    for name, body, result, _, _ in cases:
        print("func.func @%s() -> %s {" % (name, result))
        for line in body:
            print("  " + line.replace("%r = CMP", "%c ="))
        print("  return %%r : %s\n}" % result)


def numbers_of(text):
    return [float(word) for word in text.replace("[", " ").replace("]", " ").split()]


def check(command):
    flags = ["--function=" + case[0] for case in cases]
    done = subprocess.run(command + flags, stdout=subprocess.PIPE, text=True, timeout=120)
    given, name = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("EXEC @"):
            name = line[6:].strip()
        elif "=" in line:
            given[name] = numbers_of(line.split("=", 1)[1])
    wrong = 0
    for name, _, _, expected, kind in cases:
        values = given.get(name)
        tolerance = 6e-6 if kind[0] == "f" else 0  # Six digits are printed.
        good = values is not None and len(values) == len(expected) and all(
            abs(a - b) <= tolerance * max(1, abs(b)) for a, b in zip(values, expected))
        if not good:
            wrong += 1
            print("%s is %s, not %s" % (name, values, expected))
    print("%d operations, %d wrong" % (len(cases), wrong))
    return wrong > 0 or done.returncode != 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        print_program()
    else:
        sys.exit(check(sys.argv[2:]))
