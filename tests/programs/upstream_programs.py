"""Programs in upstream's dialects by hand: what each gives, by NumPy."""
import math

import numpy as np

from upstream_ops import Case

source = np.random.default_rng(5)


def f(*shape):
    return source.normal(size=shape).astype("float32")


def n(*shape, low=-9, high=9, kind="int32"):
    return source.integers(low, high, shape).astype(kind)


made = []


def case(name, arguments, wanted, text, tolerance=None):
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    made.append(Case(name, arguments, f"func.func @{name}{text}\n", [np.asarray(each) for each in wanted], tolerance))


def cases():
    return made


def number(value, kind="int32"):
    return np.asarray(value, kind)


x = f(5, 7)
case("pack_and_unpack", [x], [np.pad(x, ((0, 1), (0, 1)), constant_values=-1).reshape(2, 3, 2, 4).transpose(0, 2, 1, 3), x],
     """(%x: tensor<5x7xf32>) -> (tensor<2x2x3x4xf32>, tensor<5x7xf32>) {
  %p = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<2x2x3x4xf32>
  %0 = tensor.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %e : tensor<5x7xf32> -> tensor<2x2x3x4xf32>
  %e1 = tensor.empty() : tensor<5x7xf32>
  %1 = tensor.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %e1 : tensor<2x2x3x4xf32> -> tensor<5x7xf32>
  return %0, %1 : tensor<2x2x3x4xf32>, tensor<5x7xf32>
}""")
x = f(6, 8)
case("pack_turned_and_open", [x], [x.reshape(3, 2, 2, 4).transpose(2, 0, 3, 1), x],
     """(%x: tensor<?x?xf32>) -> (tensor<?x?x4x2xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %mm = arith.ceildivui %m, %two : index
  %nn = arith.ceildivui %n, %four : index
  %e = tensor.empty(%nn, %mm) : tensor<?x?x4x2xf32>
  %0 = tensor.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2] into %e : tensor<?x?xf32> -> tensor<?x?x4x2xf32>
  %e1 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %1 = tensor.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2] into %e1 : tensor<?x?x4x2xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x4x2xf32>, tensor<?x?xf32>
}""")
x = f(3, 4, 6)
e = np.exp(x - x.max(1, keepdims=True))
case("softmax_of_the_middle", [x], e / e.sum(1, keepdims=True),
     """(%x: tensor<3x?x6xf32>) -> tensor<3x?x6xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<3x?x6xf32>
  %e = tensor.empty(%n) : tensor<3x?x6xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<3x?x6xf32>) outs(%e : tensor<3x?x6xf32>) -> tensor<3x?x6xf32>
  return %0 : tensor<3x?x6xf32>
}""")
a, b, c = f(4, 5), f(4, 5), n(4, 5, low=0, high=2, kind="bool")
case("elementwise_named", [a, np.abs(b) + np.float32(0.5), c],
     [np.where(c, a, np.abs(b) + np.float32(0.5)), np.power(np.abs(b) + np.float32(0.5), a), np.maximum(a, np.abs(b) + np.float32(0.5)), np.minimum(a, np.abs(b) + np.float32(0.5)),
      a / (np.abs(b) + np.float32(0.5)), np.exp(a), np.abs(a), a + (np.abs(b) + np.float32(0.5)).astype(np.float64), np.abs(b) + np.float32(0.5)],
     """(%a: tensor<4x5xf32>, %b: tensor<4x5xf32>, %c: tensor<4x5xi1>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf64>, tensor<4x5xf32>) {
  %e = tensor.empty() : tensor<4x5xf32>
  %ee = tensor.empty() : tensor<4x5xf64>
  %0 = linalg.select ins(%c, %a, %b : tensor<4x5xi1>, tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = linalg.powf ins(%b, %a : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = linalg.max ins(%a, %b : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = linalg.elemwise_binary {fun = #linalg.binary_fn<min_signed>} ins(%a, %b : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = linalg.elemwise_binary {fun = #linalg.binary_fn<div>} ins(%a, %b : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %5 = linalg.elemwise_unary ins(%a : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %6 = linalg.elemwise_unary {fun = #linalg.unary_fn<abs>} ins(%a : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %7 = linalg.elemwise_binary ins(%a, %b : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ee : tensor<4x5xf64>) -> tensor<4x5xf64>
  %8 = linalg.copy ins(%b : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf64>, tensor<4x5xf32>
}""")
x = f(2, 6, 6, 3)
w = f(4, 3, 3, 3)
want = sum(np.einsum("nhwc,fc->nhwf", x[:, i:i + 4, j:j + 4], w[:, i, j]) for i in range(3) for j in range(3))
case("winograd_by_transforms", [x, w], want,
     """(%x: tensor<2x6x6x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x6x3x4xf32>
  %0 = linalg.winograd_filter_transform m(4) r(3) ins(%w : tensor<4x3x3x3xf32>) outs(%e0 : tensor<6x6x3x4xf32>) -> tensor<6x6x3x4xf32>
  %e1 = tensor.empty() : tensor<6x6x1x1x2x3xf32>
  %1 = linalg.winograd_input_transform m(4) r(3) ins(%x : tensor<2x6x6x3xf32>) outs(%e1 : tensor<6x6x1x1x2x3xf32>) -> tensor<6x6x1x1x2x3xf32>
  %c0 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<6x6x3x4xf32> into tensor<36x3x4xf32>
  %c1 = tensor.collapse_shape %1 [[0, 1], [2, 3, 4], [5]] : tensor<6x6x1x1x2x3xf32> into tensor<36x2x3xf32>
  %e2 = tensor.empty() : tensor<36x2x4xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<36x2x4xf32>) -> tensor<36x2x4xf32>
  %2 = linalg.batch_matmul ins(%c1, %c0 : tensor<36x2x3xf32>, tensor<36x3x4xf32>) outs(%f2 : tensor<36x2x4xf32>) -> tensor<36x2x4xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2, 3, 4], [5]] output_shape [6, 6, 1, 1, 2, 4] : tensor<36x2x4xf32> into tensor<6x6x1x1x2x4xf32>
  %e4 = tensor.empty() : tensor<2x4x4x4xf32>
  %4 = linalg.winograd_output_transform m(4) r(3) ins(%3 : tensor<6x6x1x1x2x4xf32>) outs(%e4 : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %4 : tensor<2x4x4x4xf32>
}""", 1e-4)
a, b = n(9, low=-2**31, high=2**31 - 1), n(9, low=-2**31, high=2**31 - 1)
wide = a.astype("int64") * b.astype("int64")
uwide = a.view("uint32").astype("uint64") * b.view("uint32").astype("uint64")
usum = a.view("uint32").astype("uint64") + b.view("uint32").astype("uint64")
case("extended_arithmetic", [a, b], [wide.astype("int32"), (wide >> 32).astype("int32"), (uwide >> np.uint64(32)).astype("uint32").view("int32"), usum.astype("uint32").view("int32"), (usum >> np.uint64(32)).astype(bool)],
     """(%a: tensor<?xi32>, %b: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi1>) {
  %low, %high = arith.mulsi_extended %a, %b : tensor<?xi32>
  %ulow, %uhigh = arith.mului_extended %a, %b : tensor<?xi32>
  %sum, %carry = arith.addui_extended %a, %b : tensor<?xi32>, tensor<?xi1>
  return %low, %high, %uhigh, %sum, %carry : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi1>
}""")
case("extended_arithmetic_of_scalars", [], [number(-25, "int64"), number(-1, "int64"), number(4, "int64"), number(4, "int32"), number(1, "int32")],
     """() -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i32>, tensor<i32>) {
  %a = util.unfoldable_constant 5 : i64
  %b = util.unfoldable_constant -5 : i64
  %c = util.unfoldable_constant -1 : i32
  %d = util.unfoldable_constant 5 : i32
  %low, %high = arith.mulsi_extended %a, %b : i64
  %ulow, %uhigh = arith.mului_extended %a, %b : i64
  %sum, %carry = arith.addui_extended %c, %d : i32, i1
  %wide = arith.extui %carry : i1 to i32
  %0 = tensor.from_elements %low : tensor<i64>
  %1 = tensor.from_elements %high : tensor<i64>
  %2 = tensor.from_elements %uhigh : tensor<i64>
  %3 = tensor.from_elements %sum : tensor<i32>
  %4 = tensor.from_elements %wide : tensor<i32>
  return %0, %1, %2, %3, %4 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i32>, tensor<i32>
}""")
x = f(6, 9)
case("slices_by_open_offsets", [x, number(2, "int64"), number(3, "int64")], [x[2:5:1, 3:9:2], np.where(True, np.vstack([x[:2], x[2:] * 0]), 0)],
     """(%x: tensor<?x?xf32>, %i: tensor<i64>, %j: tensor<i64>) -> (tensor<3x?xf32>, tensor<?x?xf32>) {
  %ii = tensor.extract %i[] : tensor<i64>
  %jj = tensor.extract %j[] : tensor<i64>
  %o = arith.index_cast %ii : i64 to index
  %p = arith.index_cast %jj : i64 to index
  %0 = tensor.extract_slice %x[%o, %p] [3, %p] [1, 2] : tensor<?x?xf32> to tensor<3x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %rest = arith.subi %m, %o : index
  %z = arith.constant 0.0 : f32
  %zeros = tensor.splat %z[%rest, %n] : tensor<?x?xf32>
  %1 = tensor.insert_slice %zeros into %x[%o, 0] [%rest, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %0, %1 : tensor<3x?xf32>, tensor<?x?xf32>
}""")
x, at = f(5, 6, 4), n(3, 2, low=0, high=5, kind="int64")
two = np.stack([n(7, low=0, high=5, kind="int64"), n(7, low=0, high=4, kind="int64")], -1)
case("gathers_of_tensor", [x, at[..., :1], two], [x[at[..., 0]], x[two[:, 0], :, two[:, 1]]],
     """(%x: tensor<5x6x4xf32>, %i: tensor<3x1xi64>, %j: tensor<7x2xi64>) -> (tensor<3x6x4xf32>, tensor<7x6xf32>) {
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<5x6x4xf32>, tensor<3x1xi64>) -> tensor<3x6x4xf32>
  %1 = tensor.gather %x[%j] gather_dims([0, 2]) unique : (tensor<5x6x4xf32>, tensor<7x2xi64>) -> tensor<7x6xf32>
  return %0, %1 : tensor<3x6x4xf32>, tensor<7x6xf32>
}""")
x, y = f(4, 6), f(2, 6)
want = x.copy()
want[[3, 1]] = y
case("scatter_of_tensor", [y, x, number([[3], [1]], "int64")], want,
     """(%y: tensor<2x6xf32>, %x: tensor<4x6xf32>, %i: tensor<2x1xi64>) -> tensor<4x6xf32> {
  %0 = tensor.scatter %y into %x[%i] scatter_dims([0]) unique : (tensor<2x6xf32>, tensor<4x6xf32>, tensor<2x1xi64>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}""")
x = f(4, 3)
case("reshapes_of_tensor", [x, number([2, 6], "int64")], [x.reshape(2, 6), x.reshape(2, 6), x.reshape(2, 2, 3).reshape(4, 3), x.view("int32"), number(2, "int64")],
     """(%x: tensor<?x3xf32>, %s: tensor<2xi64>) -> (tensor<?x?xf32>, tensor<2x6xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<i64>) {
  %0 = tensor.reshape %x(%s) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x6xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x3xf32>
  %h = arith.divui %m, %c2 : index
  %2 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%h, 2, 3] : tensor<?x3xf32> into tensor<?x2x3xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<?x2x3xf32> into tensor<?x3xf32>
  %4 = tensor.bitcast %x : tensor<?x3xf32> to tensor<?x3xi32>
  %r = tensor.rank %x : tensor<?x3xf32>
  %w = arith.index_cast %r : index to i64
  %5 = tensor.from_elements %w : tensor<i64>
  return %0, %1, %3, %4, %5 : tensor<?x?xf32>, tensor<2x6xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<i64>
}""")
x = f(4, 5)
i, j = np.indices((7, 7))
want = np.where((i >= 2) & (i < 6) & (j >= 1) & (j < 6), np.pad(x, ((2, 1), (1, 1))), (i * 10 + j).astype("float32"))
case("pads_by_a_body", [x, number(2, "int64")], [want, np.pad(x, ((2, 0), (0, 2)), constant_values=x[1, 2])],
     """(%x: tensor<?x5xf32>, %k: tensor<i64>) -> (tensor<?x7xf32>, tensor<?x?xf32>) {
  %kk = tensor.extract %k[] : tensor<i64>
  %l = arith.index_cast %kk : i64 to index
  %0 = tensor.pad %x low[%l, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %a = arith.muli %i, %ten : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    %d = arith.sitofp %c : i32 to f32
    tensor.yield %d : f32
  } : tensor<?x5xf32> to tensor<?x7xf32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = tensor.extract %x[%c1, %c2] : tensor<?x5xf32>
  %1 = tensor.pad %x low[%l, 0] high[0, %l] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x5xf32> to tensor<?x?xf32>
  return %0, %1 : tensor<?x7xf32>, tensor<?x?xf32>
}""")
x, y = f(2, 3), f(2, 4)
case("concats_and_elements", [x, y], [np.hstack([x, y, x]), np.array([[x[0, 0], 2], [y[1, 3], x[1, 2]]], "float32"), np.where(np.eye(2, 3) > 0, 9, x).astype("float32")],
     """(%x: tensor<?x3xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<2x2xf32>, tensor<?x3xf32>) {
  %0 = tensor.concat dim(1) %x, %y, %x : (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.extract %x[%c0, %c0] : tensor<?x3xf32>
  %b = arith.constant 2.0 : f32
  %c = tensor.extract %y[%c1, %c3] : tensor<?x?xf32>
  %d = tensor.extract %x[%c1, %c2] : tensor<?x3xf32>
  %1 = tensor.from_elements %a, %b, %c, %d : tensor<2x2xf32>
  %nine = arith.constant 9.0 : f32
  %2 = tensor.insert %nine into %x[%c0, %c0] : tensor<?x3xf32>
  %3 = tensor.insert %nine into %2[%c1, %c1] : tensor<?x3xf32>
  return %0, %1, %3 : tensor<?x?xf32>, tensor<2x2xf32>, tensor<?x3xf32>
}""")
x = f(6, 5)
case("generate_by_gathers", [x], x.T[::-1] * 2,
     """(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %last = arith.subi %n, %c1 : index
  %0 = tensor.generate %n, %m {
  ^bb0(%i: index, %j: index):
    %k = arith.subi %last, %i : index
    %v = tensor.extract %x[%j, %k] : tensor<?x?xf32>
    %w = arith.addf %v, %v : f32
    tensor.yield %w : f32
  } : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""")
x = f(8, 6)
case("forall_of_slices", [x], np.sqrt(np.abs(x)) ,
     """(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = scf.forall (%i, %j) = (0, 0) to (8, 6) step (4, 3) shared_outs(%o = %e) -> (tensor<8x6xf32>) {
    %s = tensor.extract_slice %x[%i, %j] [4, 3] [1, 1] : tensor<8x6xf32> to tensor<4x3xf32>
    %t = tensor.extract_slice %o[%i, %j] [4, 3] [1, 1] : tensor<8x6xf32> to tensor<4x3xf32>
    %a = linalg.abs ins(%s : tensor<4x3xf32>) outs(%t : tensor<4x3xf32>) -> tensor<4x3xf32>
    %b = linalg.sqrt ins(%a : tensor<4x3xf32>) outs(%t : tensor<4x3xf32>) -> tensor<4x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%i, %j] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<8x6xf32>
    }
  }
  return %0 : tensor<8x6xf32>
}""")
case("forall_of_open_bounds", [x, x[:, :1].copy()], [x * 3, x[:, :1] + np.arange(8, dtype="float32")[:, None]],
     """(%x: tensor<?x6xf32>, %y: tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %three = arith.constant 3.0 : f32
  %0:2 = scf.forall (%i) in (%m) shared_outs(%o = %x, %p = %y) -> (tensor<?x6xf32>, tensor<?x1xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 6] [1, 1] : tensor<?x6xf32> to tensor<1x6xf32>
    %k = tensor.splat %three : tensor<1x6xf32>
    %a = arith.mulf %s, %k : tensor<1x6xf32>
    %v = tensor.extract_slice %p[%i, 0] [1, 1] [1, 1] : tensor<?x1xf32> to tensor<1x1xf32>
    %w = arith.index_cast %i : index to i32
    %u = arith.sitofp %w : i32 to f32
    %t = tensor.splat %u : tensor<1x1xf32>
    %q = arith.addf %v, %t : tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<?x6xf32>
      tensor.parallel_insert_slice %q into %p[%i, 0] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<?x1xf32>
    }
  }
  return %0#0, %0#1 : tensor<?x6xf32>, tensor<?x1xf32>
}""")
case("parallel_with_a_reduction", [number(7, "int64")], [number(sum(i * j for i in range(1, 7, 2) for j in range(4)), "int64"), number(max(i - 2 * j for i in range(1, 7, 2) for j in range(4)), "int64")],
     """(%n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %nn = tensor.extract %n[] : tensor<i64>
  %m = arith.index_cast %nn : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0 : i64
  %least = arith.constant -99 : i64
  %0:2 = scf.parallel (%i, %j) = (%c1, %c0) to (%m, %c4) step (%c2, %c1) init(%z, %least) -> (i64, i64) {
    %a = arith.muli %i, %j : index
    %b = arith.index_cast %a : index to i64
    %t = arith.muli %j, %c2 : index
    %u = arith.subi %i, %t : index
    %d = arith.index_cast %u : index to i64
    scf.reduce(%b, %d : i64, i64) {
    ^bb0(%p: i64, %q: i64):
      %s = arith.addi %p, %q : i64
      scf.reduce.return %s : i64
    }, {
    ^bb0(%p: i64, %q: i64):
      %s = arith.maxsi %p, %q : i64
      scf.reduce.return %s : i64
    }
  }
  %1 = tensor.from_elements %0#0 : tensor<i64>
  %2 = tensor.from_elements %0#1 : tensor<i64>
  return %1, %2 : tensor<i64>, tensor<i64>
}""")
x = f(4)
case("index_switch_of_tensors", [x, number(5, "int64")], x * 2 + 1,
     """(%x: tensor<4xf32>, %k: tensor<i64>) -> tensor<4xf32> {
  %kk = tensor.extract %k[] : tensor<i64>
  %i = arith.index_cast %kk : i64 to index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %one : tensor<4xf32>
  }
  case 5 {
    %a = arith.addf %x, %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  %1 = arith.addf %0, %one : tensor<4xf32>
  return %1 : tensor<4xf32>
}""")
case("while_with_two_bodies", [x], [x * 2 ** 4, number(4)],
     """(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %0:2 = scf.while (%v = %x, %i = %z) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32) {
    %c = arith.cmpi slt, %i, %four : i32
    scf.condition(%c) %v, %i : tensor<4xf32>, i32
  } do {
  ^bb0(%v: tensor<4xf32>, %i: i32):
    %a = arith.addf %v, %v : tensor<4xf32>
    %j = arith.addi %i, %one : i32
    scf.yield %a, %j : tensor<4xf32>, i32
  }
  %1 = tensor.from_elements %0#1 : tensor<i32>
  return %0#0, %1 : tensor<4xf32>, tensor<i32>
}""")
x = f(5, 4)
case("for_with_slices_and_if", [x], np.cumsum(np.where(np.arange(5)[:, None] % 2 == 0, x, -x), 0, dtype="float32"),
     """(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant dense<0.0> : tensor<1x4xf32>
  %e = tensor.empty() : tensor<5x4xf32>
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %z, %o = %e) -> (tensor<1x4xf32>, tensor<5x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
    %r = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %r, %c0 : index
    %v = scf.if %even -> (tensor<1x4xf32>) {
      scf.yield %s : tensor<1x4xf32>
    } else {
      %neg = arith.negf %s : tensor<1x4xf32>
      scf.yield %neg : tensor<1x4xf32>
    }
    %sum = arith.addf %t, %v : tensor<1x4xf32>
    %p = tensor.insert_slice %sum into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<5x4xf32>
    scf.yield %sum, %p : tensor<1x4xf32>, tensor<5x4xf32>
  }
  return %0#1 : tensor<5x4xf32>
}""")
x, m = f(6, 10), n(6, 10, low=-50, high=50)
case("reductions_of_several_results", [x, m], [x.max(1), x.argmax(1).astype("int32"), m.min(0), (m * m).sum(0, dtype="int32")],
     """(%x: tensor<?x?xf32>, %m: tensor<?x?xi32>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = tensor.dim %x, %c0 : tensor<?x?xf32>
  %q = tensor.dim %m, %c1 : tensor<?x?xi32>
  %low = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i32
  %big = arith.constant 2147483647 : i32
  %e0 = tensor.empty(%p) : tensor<?xf32>
  %e1 = tensor.empty(%p) : tensor<?xi32>
  %e2 = tensor.empty(%q) : tensor<?xi32>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %f1 = linalg.fill ins(%z : i32) outs(%e1 : tensor<?xi32>) -> tensor<?xi32>
  %f2 = linalg.fill ins(%big : i32) outs(%e2 : tensor<?xi32>) -> tensor<?xi32>
  %f3 = linalg.fill ins(%z : i32) outs(%e2 : tensor<?xi32>) -> tensor<?xi32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f0, %f1 : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%a: f32, %b: f32, %c: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %g = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %g, %a, %b : f32
    %w = arith.select %g, %k, %c : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  %1:2 = linalg.reduce ins(%m, %m : tensor<?x?xi32>, tensor<?x?xi32>) outs(%f2, %f3 : tensor<?xi32>, tensor<?xi32>) dimensions = [0]
    (%a: i32, %b: i32, %c: i32, %d: i32) {
      %v = arith.minsi %a, %c : i32
      %s = arith.muli %b, %b : i32
      %t = arith.addi %s, %d : i32
      linalg.yield %v, %t : i32, i32
    }
  return %0#0, %0#1, %1#0, %1#1 : tensor<?xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}""")
x = f(9, 8)
case("strided_and_turned_maps", [x], [x[::2, ::3].copy(), x[::-1, ::-1].copy(), x[1:, 1:] + x[1:, 1:]],
     """(%x: tensor<9x8xf32>) -> (tensor<5x3xf32>, tensor<9x8xf32>, tensor<8x7xf32>) {
  %e0 = tensor.empty() : tensor<5x3xf32>
  %e1 = tensor.empty() : tensor<9x8xf32>
  %e2 = tensor.empty() : tensor<8x7xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2, j * 3)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e0 : tensor<5x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (-i + 8, -j + 7)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e1 : tensor<9x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<9x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + 1, j + 1)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e2 : tensor<8x7xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x7xf32>
  return %0, %1, %2 : tensor<5x3xf32>, tensor<9x8xf32>, tensor<8x7xf32>
}""")
x, at = f(4, 30), n(6, low=0, high=4)
case("gather_and_loop_in_a_body", [x, at], np.array([[sum(x[r, k] for k in range(c + 1)) for c in range(30)] for r in at], "float32"),
     """(%x: tensor<4x30xf32>, %i: tensor<6xi32>) -> tensor<6x30xf32> {
  %e = tensor.empty() : tensor<6x30xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<6xi32>) outs(%e : tensor<6x30xf32>) {
  ^bb0(%a: i32, %b: f32):
    %r = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %end = arith.addi %j, %c1 : index
    %s = scf.for %k = %c0 to %end step %c1 iter_args(%t = %z) -> (f32) {
      %v = tensor.extract %x[%r, %k] : tensor<4x30xf32>
      %u = arith.addf %t, %v : f32
      scf.yield %u : f32
    }
    linalg.yield %s : f32
  } -> tensor<6x30xf32>
  return %0 : tensor<6x30xf32>
}""")
x = f(3, 5)
case("maps_of_numbers_and_broadcasts", [x, number(2.5, "float32")], [x * 2.5, np.broadcast_to(x[:, None], (3, 4, 5)).copy(), x.T.copy(), x + 1],
     """(%x: tensor<3x5xf32>, %s: tensor<f32>) -> (tensor<3x5xf32>, tensor<3x4x5xf32>, tensor<5x3xf32>, tensor<3x5xf32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<3x5xf32>) dimensions = [0, 1]
  %0 = linalg.map { arith.mulf } ins(%x, %b : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>)
  %e1 = tensor.empty() : tensor<3x4x5xf32>
  %1 = linalg.broadcast ins(%x : tensor<3x5xf32>) outs(%e1 : tensor<3x4x5xf32>) dimensions = [1]
  %e2 = tensor.empty() : tensor<5x3xf32>
  %2 = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%e2 : tensor<5x3xf32>) permutation = [1, 0]
  %one = arith.constant 1.0 : f32
  %3 = linalg.map ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) (%v: f32) {
    %w = arith.addf %v, %one : f32
    linalg.yield %w : f32
  }
  return %0, %1, %2, %3 : tensor<3x5xf32>, tensor<3x4x5xf32>, tensor<5x3xf32>, tensor<3x5xf32>
}""", 1e-6)
case("reduce_of_all_and_nothing", [x], [np.float32(x.astype("float64").sum()), x.sum((0, 1)).astype("float32") * 0 + x.max(), x],
     """(%x: tensor<3x5xf32>) -> (tensor<f32>, tensor<f32>, tensor<3x5xf32>) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %l = arith.constant dense<0xFF800000> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<3x5xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  %1 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x5xf32>) outs(%l : tensor<f32>) dimensions = [0, 1]
  %zz = arith.constant dense<0.0> : tensor<3x5xf32>
  %2 = linalg.reduce { arith.addf } ins(%x : tensor<3x5xf32>) outs(%zz : tensor<3x5xf32>) dimensions = []
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<3x5xf32>
}""")
b = n(3, 4, low=-128, high=127, kind="int8")
h = n(3, 4, low=-30000, high=30000, kind="int16")
case("casts_of_many_types", [b, h, x[:, :4].copy()], [b.astype("int16") * 2, (b.astype("uint8")).astype("float32").view("float32") * 0 + b.view("uint8").astype("float32"), h.astype("int8"), h.astype("float32"), x[:, :4].astype("float16").astype("float32"), x[:, :4].astype("float64"), (x[:, :4] * 10).astype("int32"), np.abs(x[:, :4] * 10).astype("int32")],
     """(%b: tensor<3x4xi8>, %h: tensor<3x4xi16>, %x: tensor<3x4xf32>) -> (tensor<3x4xi16>, tensor<3x4xf32>, tensor<3x4xi8>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf64>, tensor<3x4xi32>, tensor<3x4xi32>) {
  %0 = arith.extsi %b : tensor<3x4xi8> to tensor<3x4xi16>
  %1 = arith.addi %0, %0 : tensor<3x4xi16>
  %2 = arith.uitofp %b : tensor<3x4xi8> to tensor<3x4xf32>
  %3 = arith.trunci %h : tensor<3x4xi16> to tensor<3x4xi8>
  %4 = arith.sitofp %h : tensor<3x4xi16> to tensor<3x4xf32>
  %5 = arith.truncf %x : tensor<3x4xf32> to tensor<3x4xf16>
  %6 = arith.extf %5 : tensor<3x4xf16> to tensor<3x4xf32>
  %7 = arith.extf %x : tensor<3x4xf32> to tensor<3x4xf64>
  %ten = arith.constant dense<10.0> : tensor<3x4xf32>
  %8 = arith.mulf %x, %ten : tensor<3x4xf32>
  %9 = arith.fptosi %8 : tensor<3x4xf32> to tensor<3x4xi32>
  %10 = math.absf %8 : tensor<3x4xf32>
  %11 = arith.fptoui %10 : tensor<3x4xf32> to tensor<3x4xi32>
  return %1, %2, %3, %4, %6, %7, %9, %11 : tensor<3x4xi16>, tensor<3x4xf32>, tensor<3x4xi8>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf64>, tensor<3x4xi32>, tensor<3x4xi32>
}""")
x = (np.abs(f(20)) + np.float32(0.05)).astype("float32")
y = f(20)
UNARY = {"sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "atan": np.arctan, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt,
         "rsqrt": lambda v: 1 / np.sqrt(v), "cbrt": np.cbrt, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "round": lambda v: np.floor(v + 0.5), "roundeven": np.rint, "trunc": np.trunc, "absf": np.abs}
for kind, word in (("float64", "f64"), ("float16", "f16")):
    v = x.astype(kind)
    t = f"tensor<?x{word}>"
    lines = "".join(f"  %r{i} = math.{op} %x : {t}\n" for i, op in enumerate(UNARY))
    results = ", ".join(f"%r{i}" for i in range(len(UNARY)))
    types = ", ".join([t] * len(UNARY))
    case(f"math_of_{word}", [v], [g(v.astype("float64")).astype(kind) for g in UNARY.values()], f"(%x: {t}) -> ({types}) {{\n{lines}  return {results} : {types}\n}}", 4e-3 if kind == "float16" else 1e-9)
for bits in (8, 16, 32, 64):
    v, u = n(30, low=-2 ** (bits - 1), high=2 ** (bits - 1) - 1, kind=f"int{bits}"), n(30, low=-5, high=6, kind=f"int{bits}")
    u[u == 0] = 3
    t, uv, uu = f"tensor<?xi{bits}>", v.view(f"uint{bits}"), u.view(f"uint{bits}")
    sh = np.abs(u)
    quotient = (np.sign(v.astype(object)) * np.sign(u.astype(object)) * (np.abs(v.astype(object)) // np.abs(u.astype(object))))
    remainder = v.astype(object) - quotient * u.astype(object)
    INTS = {"divsi": quotient, "remsi": remainder, "divui": (uv // uu).astype(object), "remui": (uv % uu).astype(object), "floordivsi": v.astype(object) // u.astype(object), "ceildivsi": -(-v.astype(object) // u.astype(object)), "ceildivui": -(-uv.astype(object) // uu.astype(object)), "maxsi": np.maximum(v, u), "maxui": np.maximum(uv, uu), "minsi": np.minimum(v, u), "minui": np.minimum(uv, uu), "muli": v.astype(object) * u.astype(object), "subi": v.astype(object) - u.astype(object)}

    def cut(values):
        return np.array([((int(e) + 2 ** (bits - 1)) % 2 ** bits) - 2 ** (bits - 1) for e in values], f"int{bits}")

    lines = "".join(f"  %r{i} = arith.{op} %a, %b : {t}\n" for i, op in enumerate(INTS))
    SHIFTS = {"shli": [(int(p) << int(q)) for p, q in zip(v, sh)], "shrsi": [int(p) >> int(q) for p, q in zip(v, sh)], "shrui": [int(p) >> int(q) for p, q in zip(uv, sh)]}
    lines += "".join(f"  %s{i} = arith.{op} %a, %c : {t}\n" for i, op in enumerate(SHIFTS))
    BITS = {"ctpop": [bin(int(p)).count("1") for p in uv], "ctlz": [bits - int(p).bit_length() for p in uv], "cttz": [bits if p == 0 else (int(p) & -int(p)).bit_length() - 1 for p in uv], "absi": np.abs(v.astype(object))}
    lines += "".join(f"  %m{i} = math.{op} %a : {t}\n" for i, op in enumerate(BITS))
    names = [*(f"%r{i}" for i in range(len(INTS))), *(f"%s{i}" for i in range(3)), *(f"%m{i}" for i in range(4))]
    types = ", ".join([t] * len(names))
    case(f"integers_of_{bits}_bits", [v, u, sh], [cut(each) for table in (INTS, SHIFTS, BITS) for each in table.values()], f"(%a: {t}, %b: {t}, %c: {t}) -> ({types}) {{\n{lines}  return {', '.join(names)} : {types}\n}}")
a, b = n(4, 3, kind="int8", low=-5, high=5), f(4, 3)
COMPARE = {"oeq": lambda p, q: p == q, "one": lambda p, q: (p != q) & ~np.isnan(p) & ~np.isnan(q), "ult": lambda p, q: ~(p >= q), "uno": lambda p, q: np.isnan(p) | np.isnan(q), "ord": lambda p, q: ~(np.isnan(p) | np.isnan(q)), "ueq": lambda p, q: (p == q) | np.isnan(p) | np.isnan(q), "une": lambda p, q: p != q, "oge": lambda p, q: p >= q, "ugt": lambda p, q: ~(p <= q), "ole": lambda p, q: p <= q}
p, q = f(12), f(12)
p[2], q[5], p[7], q[7], p[9] = np.nan, np.nan, np.nan, np.nan, q[9]
t = "tensor<12xf32>"
lines = "".join(f"  %r{i} = arith.cmpf {op}, %a, %b : {t}\n" for i, op in enumerate(COMPARE))
types = ", ".join(["tensor<12xi1>"] * len(COMPARE) + [t] * 4)
case("comparisons_with_nan", [p, q], [*(g(p, q) for g in COMPARE.values()), np.fmax(p, q), np.fmin(p, q), np.maximum(p, q), np.minimum(p, q)],
     f"(%a: {t}, %b: {t}) -> ({types}) {{\n{lines}  %m0 = arith.maxnumf %a, %b : {t}\n  %m1 = arith.minnumf %a, %b : {t}\n  %m2 = arith.maximumf %a, %b : {t}\n  %m3 = arith.minimumf %a, %b : {t}\n  return {', '.join(f'%r{i}' for i in range(len(COMPARE)))}, %m0, %m1, %m2, %m3 : {types}\n}}")
x = f(6)
case("branches_of_blocks", [x, number(3)], x * np.float32(3),
     """(%x: tensor<6xf32>, %n: tensor<i32>) -> tensor<6xf32> {
  %k = tensor.extract %n[] : tensor<i32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  cf.br ^head(%z, %zero : i32, tensor<6xf32>)
^head(%i: i32, %t: tensor<6xf32>):
  %c = arith.cmpi slt, %i, %k : i32
  cf.cond_br %c, ^body, ^end
^body:
  %u = arith.addf %t, %x : tensor<6xf32>
  %j = arith.addi %i, %one : i32
  cf.switch %j : i32, [
    default: ^head(%j, %u : i32, tensor<6xf32>),
    99: ^end
  ]
^end:
  return %t : tensor<6xf32>
}""")
z, v = (f(5) + 1j * f(5)).astype("complex64"), (f(5) + 1j * f(5)).astype("complex64")
case("complex_of_upstream", [z.real.copy(), z.imag.copy()], [np.abs(z), np.exp(z).real, (z * z).imag],
     """(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %e = tensor.empty() : tensor<5xf32>
  %0:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%e, %e, %e : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32, %r: f32):
    %z = complex.create %x, %y : complex<f32>
    %n = complex.abs %z : complex<f32>
    %x1 = complex.exp %z : complex<f32>
    %re = complex.re %x1 : complex<f32>
    %m = complex.mul %z, %z : complex<f32>
    %im = complex.im %m : complex<f32>
    linalg.yield %n, %re, %im : f32, f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
  return %0#0, %0#1, %0#2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}""")
p, q, r = f(3, 4), (np.abs(f(3, 1)) + np.float32(0.5)).astype("float32"), n(3, 4, low=0, high=20)
sig = (1 / (1 + np.exp(-p.astype("float64")))).astype("float32")
case("tosa_elementwise", [p, q, r], [p + q, p - q, p * q, np.maximum(p, q), np.minimum(p, q), np.power(q + p * 0, p), np.abs(p), np.ceil(p), np.floor(p), np.exp(p), np.log(q), np.tanh(p), sig, 1 / q, 1 / np.sqrt(q), -p, np.clip(p, -1, 1), p > q, p >= q, np.where(p > q, p, q + 0 * p), r << 2, r >> 1, r & 6, r | 9, r ^ 3, ~r, np.array([[32 - int(e).bit_length() for e in row] for row in r], "int32"), r // 3, p.astype("int32") * 0 + np.rint(p).astype("int32"), r.astype("float32")],
     """(%p: tensor<3x4xf32>, %q: tensor<3x1xf32>, %r: tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xf32>) {
  %0 = tosa.add %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %1 = tosa.sub %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = tosa.mul %p, %q {shift = 0 : i8} : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %3 = tosa.maximum %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %4 = tosa.minimum %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %5 = tosa.pow %q, %p : (tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %6 = tosa.abs %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %7 = tosa.ceil %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %8 = tosa.floor %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %9 = tosa.exp %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %10 = tosa.log %q : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %11 = tosa.tanh %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %12 = tosa.sigmoid %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %13 = tosa.reciprocal %q : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %14 = tosa.rsqrt %q : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %15 = tosa.negate %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %16 = tosa.clamp %p {min_fp = -1.0 : f32, max_fp = 1.0 : f32, min_int = -1 : i64, max_int = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %17 = tosa.greater %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xi1>
  %18 = tosa.greater_equal %p, %q : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xi1>
  %19 = tosa.select %17, %p, %q : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %two = "tosa.const"() {value = dense<2> : tensor<1x1xi32>} : () -> tensor<1x1xi32>
  %one = "tosa.const"() {value = dense<1> : tensor<1x1xi32>} : () -> tensor<1x1xi32>
  %six = "tosa.const"() {value = dense<6> : tensor<1x1xi32>} : () -> tensor<1x1xi32>
  %nine = "tosa.const"() {value = dense<9> : tensor<1x1xi32>} : () -> tensor<1x1xi32>
  %three = "tosa.const"() {value = dense<3> : tensor<1x1xi32>} : () -> tensor<1x1xi32>
  %20 = tosa.logical_left_shift %r, %two : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %21 = tosa.arithmetic_right_shift %r, %one {round = false} : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %22 = tosa.bitwise_and %r, %six : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %23 = tosa.bitwise_or %r, %nine : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %24 = tosa.bitwise_xor %r, %three : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %25 = tosa.bitwise_not %r : (tensor<3x4xi32>) -> tensor<3x4xi32>
  %26 = tosa.clz %r : (tensor<3x4xi32>) -> tensor<3x4xi32>
  %27 = tosa.int_div %r, %three : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %28 = tosa.cast %p : (tensor<3x4xf32>) -> tensor<3x4xi32>
  %29 = tosa.cast %r : (tensor<3x4xi32>) -> tensor<3x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xf32>
}""", 1e-5)
x = f(2, 3, 4)
a, b = f(2, 3, 4), f(2, 4, 5)
at = n(2, 6, low=0, high=3)
case("tosa_shapes", [x, b, at], [x.reshape(6, 4), x.transpose(2, 0, 1).copy(), np.tile(x, (1, 2, 3)), x[:, 1:3, 0:2].copy(), np.pad(x, ((1, 0), (0, 2), (1, 1)), constant_values=0), np.concatenate([x, x], 1), x[:, ::-1].copy(), x.sum(1, keepdims=True), x.max(2, keepdims=True), x.min(0, keepdims=True), x.prod(1, keepdims=True), x.argmax(2).astype("int32"), x @ b, np.take_along_axis(x, at[:, :, None], 1)],
     """(%x: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %i: tensor<2x6xi32>) -> (tensor<6x4xf32>, tensor<4x2x3xf32>, tensor<2x6x12xf32>, tensor<2x2x2xf32>, tensor<3x5x6xf32>, tensor<2x6x4xf32>, tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3x1xf32>, tensor<1x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3xi32>, tensor<2x3x5xf32>, tensor<2x6x4xf32>) {
  %0 = tosa.reshape %x {new_shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %perm = "tosa.const"() {value = dense<[2, 0, 1]> : tensor<3xi32>} : () -> tensor<3xi32>
  %1 = tosa.transpose %x, %perm : (tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<4x2x3xf32>
  %2 = tosa.tile %x {multiples = array<i64: 1, 2, 3>} : (tensor<2x3x4xf32>) -> tensor<2x6x12xf32>
  %3 = tosa.slice %x {start = array<i64: 0, 1, 0>, size = array<i64: 2, 2, 2>} : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  %pads = "tosa.const"() {value = dense<[[1, 0], [0, 2], [1, 1]]> : tensor<3x2xi32>} : () -> tensor<3x2xi32>
  %4 = tosa.pad %x, %pads : (tensor<2x3x4xf32>, tensor<3x2xi32>) -> tensor<3x5x6xf32>
  %5 = tosa.concat %x, %x {axis = 1 : i32} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  %6 = tosa.reverse %x {axis = 1 : i32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %7 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  %8 = tosa.reduce_max %x {axis = 2 : i32} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %9 = tosa.reduce_min %x {axis = 0 : i32} : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %10 = tosa.reduce_prod %x {axis = 1 : i32} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  %11 = tosa.argmax %x {axis = 2 : i32} : (tensor<2x3x4xf32>) -> tensor<2x3xi32>
  %12 = tosa.matmul %x, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %13 = tosa.gather %x, %i : (tensor<2x3x4xf32>, tensor<2x6xi32>) -> tensor<2x6x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6x4xf32>, tensor<4x2x3xf32>, tensor<2x6x12xf32>, tensor<2x2x2xf32>, tensor<3x5x6xf32>, tensor<2x6x4xf32>, tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3x1xf32>, tensor<1x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3xi32>, tensor<2x3x5xf32>, tensor<2x6x4xf32>
}""", 1e-5)
x, w, bias, d = f(1, 6, 7, 3), f(4, 2, 3, 3), f(4), f(2, 3, 3, 2)
padded = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0))).astype("float64")
y = sum(np.einsum("nhwc,fc->nhwf", padded[:, i:i + 6, j:j + 6:2], w[:, i, j].astype("float64")) for i in range(2) for j in range(3))[:, ::1] + bias
z = sum(np.einsum("nhwc,cm->nhwcm", padded[:, i:i + 6, j:j + 6], d[i, j].astype("float64")) for i in range(2) for j in range(3)).reshape(1, 6, 6, 6)
fc = x.reshape(18, 7).astype("float64") @ np.asarray(w.reshape(-1)[:28].reshape(4, 7).T, "float64") + bias
pools = [padded[:, i:i + 6:2, j:j + 7:2][:, :3, :4] for i in range(2) for j in range(2)]
pool = np.maximum.reduce([x[:, i:i + 5:2, j:j + 6:2] for i in range(2) for j in range(2)])
avg = np.add.reduce([x[:, i:i + 5:2, j:j + 6:2].astype("float64") for i in range(2) for j in range(2)]) / 4
case("tosa_convolutions", [x, w, bias, d, np.zeros(6, "float32"), x.reshape(18, 7), w.reshape(-1)[:28].reshape(4, 7).copy()], [y.astype("float32"), z.astype("float32"), fc.astype("float32"), pool, avg.astype("float32")],
     """(%x: tensor<1x6x7x3xf32>, %w: tensor<4x2x3x3xf32>, %b: tensor<4xf32>, %d: tensor<2x3x3x2xf32>, %z: tensor<6xf32>, %l: tensor<18x7xf32>, %m: tensor<4x7xf32>) -> (tensor<1x6x3x4xf32>, tensor<1x6x6x6xf32>, tensor<18x4xf32>, tensor<1x3x3x3xf32>, tensor<1x3x3x3xf32>) {
  %0 = tosa.conv2d %x, %w, %b {pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 1, 2>, dilation = array<i64: 1, 1>} : (tensor<1x6x7x3xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x6x3x4xf32>
  %1 = tosa.depthwise_conv2d %x, %d, %z {pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x6x7x3xf32>, tensor<2x3x3x2xf32>, tensor<6xf32>) -> tensor<1x6x6x6xf32>
  %2 = tosa.fully_connected %l, %m, %b : (tensor<18x7xf32>, tensor<4x7xf32>, tensor<4xf32>) -> tensor<18x4xf32>
  %3 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x7x3xf32>) -> tensor<1x3x3x3xf32>
  %4 = tosa.avg_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>, acc_type = f32} : (tensor<1x6x7x3xf32>) -> tensor<1x3x3x3xf32>
  return %0, %1, %2, %3, %4 : tensor<1x6x3x4xf32>, tensor<1x6x6x6xf32>, tensor<18x4xf32>, tensor<1x3x3x3xf32>, tensor<1x3x3x3xf32>
}""", 1e-5)
x, w = f(1, 3, 4, 2), f(3, 2, 2, 2)
full = np.zeros((1, (3 - 1) * 2 + 2, (4 - 1) * 1 + 2, 3), "float64")
for i in range(3):
    for j in range(4):
        for u in range(2):
            for v in range(2):
                full[0, i * 2 + u, j + v] += w[:, u, v].astype("float64") @ x[0, i, j]
values, put = f(2, 5, 3), f(2, 2, 3)
where = np.stack([source.permutation(5)[:2] for _ in range(2)]).astype("int32")
scattered = values.copy()
for k in range(2):
    scattered[k, where[k]] = put[k]
table = np.arange(-128, 128, dtype="int8")[::-1].copy()
tv = n(9, low=-128, high=127, kind="int8")
big = n(9, low=-20000, high=20000)
rescaled = np.clip(np.floor(big.astype("float64") * 1073741824 / 2 ** 37 + 0.5) + 5, -128, 127).astype("int8")
case("tosa_rare", [x, w, np.zeros(3, "float32"), values, where, put, tv, big], [full.astype("float32"), scattered, table[tv.astype(int) + 128], rescaled, np.array([[0, 2, 4]], "int32")],
     f"""(%x: tensor<1x3x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>, %v: tensor<2x5x3xf32>, %i: tensor<2x2xi32>, %p: tensor<2x2x3xf32>, %t: tensor<9xi8>, %g: tensor<9xi32>) -> (tensor<1x6x5x3xf32>, tensor<2x5x3xf32>, tensor<9xi8>, tensor<9xi8>, tensor<1x3xi32>) {{
  %0 = tosa.transpose_conv2d %x, %w, %b {{out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>, out_shape = array<i64: 1, 6, 5, 3>}} : (tensor<1x3x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x6x5x3xf32>
  %1 = tosa.scatter %v, %i, %p : (tensor<2x5x3xf32>, tensor<2x2xi32>, tensor<2x2x3xf32>) -> tensor<2x5x3xf32>
  %table = "tosa.const"() {{value = dense<{table.tolist()}> : tensor<256xi8>}} : () -> tensor<256xi8>
  %2 = tosa.table %t, %table : (tensor<9xi8>, tensor<256xi8>) -> tensor<9xi8>
  %3 = tosa.rescale %g {{double_round = false, input_zp = 0 : i32, multiplier = array<i32: 1073741824>, output_zp = 5 : i32, per_channel = false, scale32 = true, shift = array<i8: 37>}} : (tensor<9xi32>) -> tensor<9xi8>
  %c = "tosa.const"() {{value = dense<[[0, 2, 4]]> : tensor<1x3xi32>}} : () -> tensor<1x3xi32>
  %4 = tosa.identity %c : (tensor<1x3xi32>) -> tensor<1x3xi32>
  return %0, %1, %2, %3, %4 : tensor<1x6x5x3xf32>, tensor<2x5x3xf32>, tensor<9xi8>, tensor<9xi8>, tensor<1x3xi32>
}}""", 1e-5)
x = f(1, 3, 4, 2)
near = x.repeat(2, 1).repeat(2, 2)
case("tosa_resize_and_if", [x, number(True, "bool")], [near, x * 2],
     """(%x: tensor<1x3x4x2xf32>, %c: tensor<i1>) -> (tensor<1x6x8x2xf32>, tensor<1x3x4x2xf32>) {
  %0 = tosa.resize %x {mode = "NEAREST_NEIGHBOR", scale = array<i64: 4, 2, 4, 2>, offset = array<i64: -1, -1>, border = array<i64: 1, 1>} : (tensor<1x3x4x2xf32>) -> tensor<1x6x8x2xf32>
  %1 = tosa.cond_if %c -> (tensor<1x3x4x2xf32>) {
    %a = tosa.add %x, %x : (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
    tosa.yield %a : tensor<1x3x4x2xf32>
  } else {
    tosa.yield %x : tensor<1x3x4x2xf32>
  }
  return %0, %1 : tensor<1x6x8x2xf32>, tensor<1x3x4x2xf32>
}""")
x = f(2, 8)
spectrum = np.fft.rfft(x.astype("float64"))
case("tosa_fourier_and_erf", [x], [spectrum.real.astype("float32"), spectrum.imag.astype("float32"), np.array([math.erf(v) for v in x.reshape(-1)], "float32").reshape(2, 8)],
     """(%x: tensor<2x8xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x8xf32>) {
  %r = tosa.reshape %x {new_shape = array<i64: 2, 1, 8>} : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
  %0, %1 = tosa.rfft2d %r : (tensor<2x1x8xf32>) -> (tensor<2x1x5xf32>, tensor<2x1x5xf32>)
  %2 = tosa.reshape %0 {new_shape = array<i64: 2, 5>} : (tensor<2x1x5xf32>) -> tensor<2x5xf32>
  %3 = tosa.reshape %1 {new_shape = array<i64: 2, 5>} : (tensor<2x1x5xf32>) -> tensor<2x5xf32>
  %4 = tosa.erf %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %2, %3, %4 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x8xf32>
}""", 1e-5)
x = f(0, 4)
case("tensors_of_no_element_open", [x, f(3, 4)], [x, np.zeros(4, "float32"), np.zeros((0, 3), "float32")],
     """(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<?x3xf32>) {
  %0 = math.sqrt %x : tensor<?x4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %1 = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x3xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = linalg.matmul_transpose_b ins(%x, %y : tensor<?x4xf32>, tensor<3x4xf32>) outs(%f : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<4xf32>, tensor<?x3xf32>
}""")
case("fill_of_random_numbers", [], [], """() {
  %lo = arith.constant 0.0 : f64
  %hi = arith.constant 1.0 : f64
  %s = arith.constant 42 : i32
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.fill_rng_2d ins(%lo, %hi, %s : f64, f64, i32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}""")
