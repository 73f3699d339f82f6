#!/usr/bin/env python3
"""Sizes and indices that a program gets from its caller, a small function for each family of operations: what fits is
computed, and what doesn't is refused before anything is read or written, by a sentence with both numbers and the line.

    bounds.py make > bounds.mlir
    bounds.py check baton-run-module bounds.bvm --device=...

A case is a function, inputs that fit, and inputs that don't with words of the status.
"""
import re
import subprocess
import sys

INVALID, OUTSIDE = "INVALID_ARGUMENT", "OUT_OF_RANGE"
HUGE = str(2**62)
cases = []


def case(name, text, good, bad):
    """`text`: FUNC stands for the function's name. `good`: inputs. `bad`: (inputs, code, words) each."""
    cases.append((name, text.strip().replace("FUNC", "@" + name), good, bad))


def of(*sizes, kind="f32", value="1"):
    return "x".join([str(size) for size in sizes] + [kind]) + "=" + value


# Operands of one elementwise operation -----------------------------------------------------------------------------------
BINARY = {
    "f32": ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.powf", "math.atan2"],
    "i32": ["arith.addi", "arith.muli", "arith.andi", "arith.maxsi", "arith.shli"],
}
for kind, names in BINARY.items():
    for name in names:
        for rank in (1, 2):
            type_ = "tensor<%s%s>" % ("?x" * rank, kind)
            text = "func.func FUNC(%%a: %s, %%b: %s) -> %s {\n  %%0 = %s %%a, %%b : %s\n  return %%0 : %s\n}" % (
                type_, type_, type_, name, type_, type_)
            sizes = [3, 5][:rank]
            longer = sizes[:-1] + [sizes[-1] + 1]
            words = "%s: dimension %d of operand 1 is %d, and of operand 0 it is %d." % (
                name, rank - 1, longer[-1], sizes[-1])
            case("%s_%d" % (name.replace(".", "_"), rank), text, [of(*sizes, kind=kind), of(*sizes, kind=kind)],
                 [([of(*sizes, kind=kind), of(*longer, kind=kind)], INVALID, words),
                  ([of(*longer, kind=kind), of(*sizes, kind=kind)], INVALID, name + ": ")])

case("compare", """
func.func FUNC(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xi1> {
  %0 = arith.cmpf olt, %a, %b : tensor<?xf32>
  return %0 : tensor<?xi1>
}""", [of(4), of(4)], [([of(4), of(3)], INVALID, "arith.cmpf: ")])
case("select", """
func.func FUNC(%c: tensor<?xi1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.select %c, %a, %b : tensor<?xi1>, tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(4, kind="i1"), of(4), of(4)],
     [([of(3, kind="i1"), of(4), of(4)], INVALID, "arith.select: "),
      ([of(4, kind="i1"), of(4), of(5)], INVALID, "dimension 0 of operand 2 is 5")])
case("three", """
func.func FUNC(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.fma %a, %b, %c : tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(4), of(4), of(4)], [([of(4), of(4), of(2)], INVALID, "dimension 0 of operand 2 is 2")])
case("chain", """
func.func FUNC(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<4xf32>) -> tensor<?xf32> {
  %d = tensor.cast %c : tensor<4xf32> to tensor<?xf32>
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = arith.mulf %0, %d : tensor<?xf32>
  return %1 : tensor<?xf32>
}""", [of(4), of(4), of(4)],
     [([of(4), of(3), of(4)], INVALID, "arith.addf: "), ([of(5), of(5), of(4)], INVALID, "arith.mulf: ")])

# Products, sums and everything else with loops -----------------------------------------------------------------------------
MATMUL = """
func.func FUNC(%a: tensor<AAf32>, %b: tensor<BBf32>, %c: tensor<CCf32>) -> tensor<CCf32> {
  %0 = NAME ins(%a, %b : tensor<AAf32>, tensor<BBf32>) outs(%c : tensor<CCf32>) -> tensor<CCf32>
  return %0 : tensor<CCf32>
}"""
PRODUCTS = [  # name, sizes of the operands, one of them changed
    ("linalg.matmul", (3, 5), (5, 2), (3, 2), (1, 0)),
    ("linalg.matmul", (3, 5), (5, 2), (3, 2), (2, 0)),
    ("linalg.matmul", (3, 5), (5, 2), (3, 2), (2, 1)),
    ("linalg.matmul_transpose_a", (5, 3), (5, 2), (3, 2), (1, 0)),
    ("linalg.matmul_transpose_b", (3, 5), (2, 5), (3, 2), (1, 1)),
    ("linalg.batch_matmul", (4, 3, 5), (4, 5, 2), (4, 3, 2), (1, 0)),
    ("linalg.batch_matmul", (4, 3, 5), (4, 5, 2), (4, 3, 2), (0, 2)),
    ("linalg.matvec", (3, 5), (5,), (3,), (1, 0)),
    ("linalg.vecmat", (5,), (5, 2), (2,), (1, 0)),
    ("linalg.dot", (5,), (5,), (), (1, 0)),
]
for number, (name, a, b, c, (operand, dimension)) in enumerate(PRODUCTS):
    text = MATMUL.replace("NAME", name)
    for letters, sizes in (("AA", a), ("BB", b), ("CC", c)):
        text = text.replace(letters, "?x" * len(sizes))
    wrong = [list(a), list(b), list(c)]
    wrong[operand][dimension] += 7
    case("product_%d" % number, text, [of(*sizes) for sizes in (a, b, c)],
         [([of(*sizes) for sizes in wrong], INVALID, name + ": dimension ")])

case("broadcast", """
func.func FUNC(%a: tensor<?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?xf32>) outs(%b : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(3), of(2, 3)], [([of(2), of(2, 3)], INVALID, "linalg.generic: dimension 1 of operand 1 is 3, and "
                           "dimension 0 of operand 0 is 2.")])
case("reduce", """
func.func FUNC(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?xf32>) dimensions = [1]
  return %0 : tensor<?xf32>
}""", [of(3, 4), of(3)], [([of(3, 4), of(9)], INVALID, "linalg.reduce: ")])
case("transpose", """
func.func FUNC(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) permutation = [1, 0]
  return %0 : tensor<?x?xf32>
}""", [of(3, 4), of(4, 3)], [([of(3, 4), of(3, 4)], INVALID, "linalg.transpose: ")])
CONVOLUTION = """
func.func FUNC(%a: tensor<1x?x?x2xf32>, %k: tensor<?x?x2x3xf32>, %o: tensor<1x?x?x3xf32>) -> tensor<1x?x?x3xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<STRIDE> : tensor<2xi64>, dilations = dense<DILATION> : tensor<2xi64>}
    ins(%a, %k : tensor<1x?x?x2xf32>, tensor<?x?x2x3xf32>) outs(%o : tensor<1x?x?x3xf32>) -> tensor<1x?x?x3xf32>
  return %0 : tensor<1x?x?x3xf32>
}"""
for stride, dilation, size in ((1, 1, 7), (2, 1, 11), (1, 2, 9)):
    text = CONVOLUTION.replace("STRIDE", str(stride)).replace("DILATION", str(dilation))
    case("window_%d%d" % (stride, dilation), text, [of(1, size, size, 2), of(3, 3, 2, 3), of(1, 5, 5, 3)],
         [([of(1, size - 1, size, 2), of(3, 3, 2, 3), of(1, 5, 5, 3)], OUTSIDE, "it reads up to, not including, %d" % size),
          ([of(1, size, size, 2), of(3, 4, 2, 3), of(1, 5, 5, 3)], OUTSIDE, "of dimension 2 of operand 0")])

# Elements and slices -----------------------------------------------------------------------------------------------------
OUT = ["-1", "4", "2000000000", HUGE, str(-2**63)]
case("insert", """
func.func FUNC(%x: tensor<4xf32>, %i: index, %v: f32) -> tensor<4xf32> {
  %0 = tensor.insert %v into %x[%i] : tensor<4xf32>
  return %0 : tensor<4xf32>
}""", [of(4), "3", "9"], [([of(4), i, "9"], OUTSIDE, "tensor.insert: index 0 is %s, and dimension 0 of the tensor has 4." % i)
                          for i in OUT])
case("insert_open", """
func.func FUNC(%x: tensor<?x?xf32>, %i: index, %j: index, %v: f32) -> tensor<?x?xf32> {
  %0 = tensor.insert %v into %x[%i, %j] : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(2, 3), "1", "2", "9"],
     [([of(2, 3), "2", "0", "9"], OUTSIDE, "index 0 is 2"), ([of(2, 3), "0", "3", "9"], OUTSIDE, "index 1 is 3")])
case("extract", """
func.func FUNC(%x: tensor<4xf32>, %i: index) -> f32 {
  %0 = tensor.extract %x[%i] : tensor<4xf32>
  return %0 : f32
}""", [of(4), "3"], [([of(4), i], OUTSIDE, "tensor.extract: index 0 is " + i) for i in OUT])
case("extract_open", """
func.func FUNC(%x: tensor<?x?xf32>, %i: index, %j: index) -> f32 {
  %0 = tensor.extract %x[%i, %j] : tensor<?x?xf32>
  return %0 : f32
}""", [of(4, 4), "3", "0"], [([of(4, 4), "0", "9"], OUTSIDE, "index 1 is 9, and dimension 1 of the tensor has 4.")])
SLICE = """
func.func FUNC(%x: tensor<WHOLExf32>, %o: index, %s: index) -> tensor<?xf32> {
  %0 = tensor.extract_slice %x[%o] [%s] [STRIDE] : tensor<WHOLExf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
for whole in ("8", "?"):
    name = "8" if whole == "8" else "open"
    case("slice_" + name, SLICE.replace("WHOLE", whole).replace("STRIDE", "1"), [of(8), "6", "2"],
         [([of(8), "7", "2"], OUTSIDE, "the slice begins at 7"), ([of(8), "-1", "2"], OUTSIDE, "begins at -1"),
          ([of(8), "0", "9"], OUTSIDE, "the slice's size 9 is more"), ([of(8), "0", "-1"], OUTSIDE, "size -1"),
          ([of(8), HUGE, "1"], OUTSIDE, "begins at"), ([of(8), "1", HUGE], OUTSIDE, "size")])
    case("steps_" + name, SLICE.replace("WHOLE", whole).replace("STRIDE", "3"), [of(8), "1", "3"],
         [([of(8), "2", "3"], OUTSIDE, "the slice ends with 8"), ([of(8), "0", "4"], OUTSIDE, "steps by 3"),
          ([of(8), "9", "1"], OUTSIDE, "begins at 9")])
case("rows", """
func.func FUNC(%x: tensor<?x?xf32>, %i: index, %n: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = tensor.extract_slice %x[%i, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(4, 3), "1", "3"], [([of(4, 3), "2", "3"], OUTSIDE, "begins at 2")])
case("columns", """
func.func FUNC(%x: tensor<?x?xf32>, %i: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %0 = tensor.extract_slice %x[0, %i] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(4, 3), "1", "2"], [([of(4, 3), "2", "2"], OUTSIDE, "begins at 2 of dimension 1; 1 is the last")])
case("row_of_less_rank", """
func.func FUNC(%x: tensor<?x3xf32>, %i: index) -> tensor<3xf32> {
  %0 = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<?x3xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}""", [of(4, 3), "3"], [([of(4, 3), "4"], OUTSIDE, "begins at 4"), ([of(0, 3), "0"], OUTSIDE, "size 1 is more")])
case("put_slice", """
func.func FUNC(%x: tensor<8xf32>, %y: tensor<?xf32>, %o: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = tensor.insert_slice %y into %x[%o] [%n] [1] : tensor<?xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}""", [of(8), of(3), "5"], [([of(8), of(3), "6"], OUTSIDE, "begins at 6"), ([of(8), of(9), "0"], OUTSIDE, "size 9")])
case("put_slice_of_size", """
func.func FUNC(%x: tensor<?xf32>, %y: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %0 = tensor.insert_slice %y into %x[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(8), of(3), "5", "3"], [([of(8), of(3), "4", "4"], INVALID, "dimension 0 of operand 0 is 3, and the slice"),
                                 ([of(8), of(3), "-3", "3"], OUTSIDE, "begins at -3")])
case("put_strided", """
func.func FUNC(%x: tensor<?xf32>, %y: tensor<2xf32>, %o: index, %t: index) -> tensor<?xf32> {
  %0 = tensor.insert_slice %y into %x[%o] [2] [%t] : tensor<2xf32> into tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(8), of(2), "1", "6"], [([of(8), of(2), "1", "7"], OUTSIDE, "ends with 8"),
                                 ([of(8), of(2), "0", HUGE], OUTSIDE, "steps by")])

# Shapes ------------------------------------------------------------------------------------------------------------------
case("cast", """
func.func FUNC(%x: tensor<?x?xf32>) -> tensor<4x?xf32> {
  %0 = tensor.cast %x : tensor<?x?xf32> to tensor<4x?xf32>
  %1 = arith.negf %0 : tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}""", [of(4, 2)], [([of(3, 2)], INVALID, "tensor.cast: dimension 0 of operand 0 is 3, and the result's is 4.")])
case("concat", """
func.func FUNC(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(2, 3), of(2, 5)], [([of(2, 3), of(3, 3)], INVALID, "tensor.concat: dimension 0 of operand 1 is 3")])
case("pad", """
func.func FUNC(%x: tensor<?xf32>, %low: index, %high: index) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[%low] high[%high] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(3), "1", "2"], [([of(3), "-1", "2"], OUTSIDE, "tensor.pad: the padding before dimension 0 is -1"),
                          ([of(3), "1", HUGE], OUTSIDE, "the padding behind")])
case("expand", """
func.func FUNC(%x: tensor<?xf32>, %m: index) -> tensor<?x3xf32> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%m, 3] : tensor<?xf32> into tensor<?x3xf32>
  %1 = arith.negf %0 : tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}""", [of(6), "2"], [([of(6), "3"], INVALID, "tensor.expand_shape: the parts of dimension 0 are 9 together, and it has 6."),
                     ([of(7), "2"], INVALID, "tensor.expand_shape"), ([of(6), "-2"], INVALID, "tensor.expand_shape"),
                     ([of(6), str(2**63 - 1)], INVALID, "tensor.expand_shape")])
case("reshape", """
func.func FUNC(%x: tensor<?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %s = tensor.from_elements %m, %n : tensor<2xindex>
  %0 = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = arith.negf %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}""", [of(6), "2", "3"], [([of(6), "2", "4"], INVALID, "tensor.reshape: the shape has 8 elements, and the tensor has 6."),
                          ([of(6), "-2", "-3"], OUTSIDE, "tensor.reshape"),
                          ([of(6), str(2**33), str(2**31)], OUTSIDE, "tensor.reshape")])
case("fill", """
func.func FUNC(%n: index, %v: f32) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}""", ["5", "2"], [([n, "2"], OUTSIDE, "tensor.empty: a size is " + n) for n in ("-1", HUGE, str(2**62 + 1))])
case("generate", """
func.func FUNC(%m: index, %n: index) -> tensor<?x?xi32> {
  %0 = tensor.generate %m, %n {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %j : index to i32
    tensor.yield %k : i32
  } : tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}""", ["2", "3"], [(["-2", "-3"], OUTSIDE, "sizes, -2 and -3 among them"),
                   ([str(2**31), str(2**31)], OUTSIDE, "no memory can hold")])

# Indices in bodies -------------------------------------------------------------------------------------------------------
case("shifted", """
func.func FUNC(%x: tensor<?xf32>, %n: index, %o: index) -> tensor<?xf32> {
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %j = arith.addi %i, %o : index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}""", [of(8), "3", "5"], [([of(8), "3", "6"], OUTSIDE, "tensor.generate: its body reads up to $last of dimension 0".replace("$last", "8")),
                          ([of(8), "3", "-1"], OUTSIDE, "its body reads from -1")])
case("turned", """
func.func FUNC(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %0 = tensor.generate %m, %n {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%j, %i] : tensor<?x?xf32>
    tensor.yield %v : f32
  } : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""", [of(3, 4), "4", "3"], [([of(3, 4), "5", "3"], OUTSIDE, "its body reads up to 4 of dimension 1")])
case("from_nothing", """
func.func FUNC(%table: tensor<?x8xf32>, %ids: tensor<?xi32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %0 = tensor.generate %n {
  ^bb0(%a: index, %b: index):
    %k32 = tensor.extract %ids[%a] : tensor<?xi32>
    %k = arith.index_cast %k32 : i32 to index
    %v = tensor.extract %table[%k, %b] : tensor<?x8xf32>
    tensor.yield %v : f32
  } : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}""", [of(3, 8), of(2, kind="i32", value="5 -100000000")], [([of(0, 8), of(2, kind="i32")], OUTSIDE, "its body reads an element")])


# Indices that would wrap round: long steps, large offsets -------------------------------------------------------------------
STEPS = """
func.func FUNC(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c = arith.constant STEP : index
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %j = arith.muli %i, %c : index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
for power in (40, 61):
    case("long_steps_%d" % power, STEPS.replace("STEP", str(2**power)), [of(8), "1"],
         [([of(8), "2"], OUTSIDE, "reads up to %d" % 2**power), ([of(8), str(2**(64 - power) + 1)], OUTSIDE, "a loop takes")])
case("long_strides", """
func.func FUNC(%x: tensor<1x?x1xf32>, %k: tensor<1x1x1xf32>, %o: tensor<1x?x1xf32>) -> tensor<1x?x1xf32> {
  %0 = linalg.conv_1d_nwc_wcf {strides = dense<2305843009213693952> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %k : tensor<1x?x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  return %0 : tensor<1x?x1xf32>
}""", [of(1, 1, 1), of(1, 1, 1), of(1, 1, 1)], [([of(1, 1, 1), of(1, 1, 1), of(1, 9, 1)], OUTSIDE, "a loop takes 9 long steps")])
MAP = """
func.func FUNC(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (INDEX)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
for name, index, size, count in (("floordiv", "i floordiv 2", 2, 4), ("ceildiv", "i ceildiv 2", 3, 4), ("mod", "i mod 5", 5, 9),
                                 ("mod_of_few", "i mod 5", 3, 3), ("mixed", "(i floordiv 4) * 2 + i mod 2", 4, 8)):
    case("map_" + name, MAP.replace("INDEX", index), [of(size), of(count)],
         [([of(size - 1), of(count)], OUTSIDE, "it reads up to, not including, %d of dimension 0 of operand 0" % size),
          ([of(1), of(100000)], OUTSIDE, "it reads up to")])
case("map_before", MAP.replace("INDEX", "i - 1"), [of(0), of(0)], [([of(3), of(3)], OUTSIDE, "it reads from -1 of dimension 0")])

# Tensors inside of bodies: an index that only the kernel knows means the nearest that fits, and writes nothing else ----------
BODY = """
func.func FUNC(%table: tensor<?x4xf32>, %ids: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %k32 = tensor.extract %ids[%i] : tensor<?xi32>
    %k = arith.index_cast %k32 : i32 to index
TEXT
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
FAR = of(4, kind="i32", value="0 3 -2000000000 2000000000")
BODIES = {
    "own": """    %t = tensor.from_elements %one, %two, %one : tensor<3xf32>
    %v = tensor.extract %t[%k] : tensor<3xf32>""",
    "own_insert": """    %t = tensor.from_elements %one, %one, %one : tensor<3xf32>
    %u = tensor.insert %two into %t[%k] : tensor<3xf32>
    %v = tensor.extract %u[%c0] : tensor<3xf32>""",
    "slice": """    %s = tensor.extract_slice %table[%k, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %v = tensor.extract %s[%k] : tensor<4xf32>""",
    "slice_reduced": """    %s = tensor.extract_slice %table[%k, 0] [2, 2] [1, 3] : tensor<?x4xf32> to tensor<2x2xf32>
    %e = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%one : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %r = linalg.reduce {arith.addf} ins(%s : tensor<2x2xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
    %v = tensor.extract %r[] : tensor<f32>""",
    "put_slice": """    %t = tensor.from_elements %one, %one, %one, %one : tensor<4xf32>
    %p = tensor.from_elements %two, %two : tensor<2xf32>
    %u = tensor.insert_slice %p into %t[%k] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %v = tensor.extract %u[%k] : tensor<4xf32>""",
}
for name, text in BODIES.items():
    bad = [([of(1, 4), FAR], OUTSIDE, "its body reads 2 along dimension 0")] if name == "slice_reduced" else []
    bad += [([of(0, 4), FAR], OUTSIDE, "its body reads 1 along dimension 0")] if name == "slice" else []
    case("body_" + name, BODY.replace("TEXT", text), [of(3, 4), FAR], bad)


def check(command):
    flags, wrong, count = command, 0, 0

    def run(name, inputs):
        return subprocess.run(flags + ["--function=" + name] + ["--input=" + each for each in inputs],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    for name, _, good, bad in cases:
        done = run(name, good)
        count += 1
        if done.returncode != 0:
            wrong += 1
            print("%s(%s) should have run: %s" % (name, ", ".join(good), done.stdout))
        for inputs, code, words in bad:
            done = run(name, inputs)
            count += 1
            line = r"at module\.%s, word \d+ \(.*:\d+:\d+\)" % name
            if done.returncode != 1 or code not in done.stdout or words not in done.stdout or not re.search(line, done.stdout):
                wrong += 1
                print("%s(%s) should say %s, '%s', and the line: %s" % (name, ", ".join(inputs), code, words, done.stdout))
    print("%d calls, %d wrong" % (count, wrong))
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        print("\n".join(text for _, text, _, _ in cases))
    else:
        sys.exit(check(sys.argv[2:]))
