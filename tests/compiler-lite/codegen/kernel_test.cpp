// make_kernel: groups give the values that they say, on every level of the processor and at sizes around the tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen {
namespace {

// Small whole numbers: sums of them are exact in any order.
std::vector<float> numbers(size_t count, uint32_t seed = 1) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 17 - 8);
  }
  return values;
}

class KernelTest : public testing::TestWithParam<std::string> {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.levels = {GetParam()};
    return options;
  }
};

constexpr std::string_view kAdd = R"(
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
})";

TEST_P(KernelTest, AddsAnyNumberOfElements) {
  CompiledGroups groups(kAdd, options());
  ASSERT_EQ(groups.messages(), "");
  for (const size_t n :
       {size_t{1}, size_t{7}, size_t{64}, size_t{1000}, size_t{32768}, size_t{32769}, size_t{100001}}) {
    Tensor a = Tensor::of<float>({static_cast<int64_t>(n)}, numbers(n, 1));
    Tensor b = Tensor::of<float>({static_cast<int64_t>(n)}, numbers(n, 2));
    Tensor r = Tensor::empty<float>({static_cast<int64_t>(n)});
    ASSERT_EQ(groups.run("add", {a, b}, {&r}), "");
    EXPECT_EQ(groups.workgroups("add", {a, b}, {&r}), (n + 32767) / 32768);
    const std::vector<float> av = a.as<float>(), bv = b.as<float>();
    std::vector<float> expected(n);
    for (size_t i = 0; i < n; ++i) expected[i] = av[i] + bv[i];
    EXPECT_EQ(r.as<float>(), expected) << n;
  }
}

TEST_P(KernelTest, FusesAChainAndFlattensIt) {
  CompiledGroups groups(R"(
func.func @chain(%a: tensor<?x3x5xf32>, %b: tensor<?x3x5xf32>, %s: f32) -> tensor<?x3x5xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x3x5xf32>
  %e = tensor.empty(%n) : tensor<?x3x5xf32>
  %splat = linalg.fill ins(%s : f32) outs(%e : tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
  %1 = arith.addf %a, %b : tensor<?x3x5xf32>
  %2 = arith.mulf %1, %splat : tensor<?x3x5xf32>
  %3 = arith.subf %2, %a : tensor<?x3x5xf32>
  %4 = math.absf %3 : tensor<?x3x5xf32>
  %5 = arith.maximumf %4, %b : tensor<?x3x5xf32>
  %6 = arith.negf %5 : tensor<?x3x5xf32>
  %7 = arith.addf %6, %1 : tensor<?x3x5xf32>
  %8 = arith.mulf %7, %7 : tensor<?x3x5xf32>
  %9 = math.sqrt %8 : tensor<?x3x5xf32>
  %10 = arith.addf %9, %a : tensor<?x3x5xf32>
  return %10 : tensor<?x3x5xf32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const int64_t n = 4001;
  Tensor a = Tensor::of<float>({n, 3, 5}, numbers(n * 15, 1)), b = Tensor::of<float>({n, 3, 5}, numbers(n * 15, 2));
  Tensor r = Tensor::empty<float>({n, 3, 5});
  ASSERT_EQ(groups.run("chain", {a, b, scalar(2.0f)}, {&r}), "");
  EXPECT_EQ(groups.workgroups("chain", {a, b, scalar(2.0f)}, {&r}), 2u);
  const std::vector<float> av = a.as<float>(), bv = b.as<float>(), got = r.as<float>();
  for (size_t i = 0; i < got.size(); ++i) {
    const float sum = av[i] + bv[i], largest = std::max(std::fabs(sum * 2.0f - av[i]), bv[i]);
    ASSERT_EQ(got[i], std::fabs(sum - largest) + av[i]) << i;
  }
}

TEST_P(KernelTest, SumsRowsAndColumns) {
  CompiledGroups groups(R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @rows(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @columns(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFF800000 : f32
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @all(%a: tensor<?x?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce ins(%a : tensor<?x?xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) {
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    }
  return %r : tensor<f32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const int64_t m = 133, n = 517;
  Tensor a = Tensor::of<float>({m, n}, numbers(static_cast<size_t>(m * n)));
  Tensor rows = Tensor::empty<float>({m}), columns = Tensor::empty<float>({n}), all = Tensor::empty<float>({});
  ASSERT_EQ(groups.run("rows", {a}, {&rows}), "");
  ASSERT_EQ(groups.run("columns", {a}, {&columns}), "");
  ASSERT_EQ(groups.run("all", {a}, {&all}), "");
  const std::vector<float> values = a.as<float>();
  std::vector<float> row_sums(m, 0.0f), column_max(n, -INFINITY);
  float sum = 0.0f;
  for (size_t i = 0; i < values.size(); ++i) {
    row_sums[i / static_cast<size_t>(n)] += values[i];
    column_max[i % static_cast<size_t>(n)] = std::max(column_max[i % static_cast<size_t>(n)], values[i]);
    sum += values[i];
  }
  EXPECT_EQ(rows.as<float>(), row_sums);
  EXPECT_EQ(columns.as<float>(), column_max);
  EXPECT_EQ(all.as<float>(), std::vector<float>{sum});
}

constexpr std::string_view kProduct = R"(
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})";

TEST_P(KernelTest, MultipliesMatricesOfAnyShape) {
  CompiledGroups groups(kProduct, options());
  ASSERT_EQ(groups.messages(), "");
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {2, 2, 2}, {7, 33, 5}, {8, 32, 256}, {128, 128, 64}, {129, 131, 300}, {15, 257, 513}}) {
    Tensor a = Tensor::of<float>({m, k}, numbers(static_cast<size_t>(m * k), 1));
    Tensor b = Tensor::of<float>({k, n}, numbers(static_cast<size_t>(k * n), 2));
    Tensor bias = Tensor::of<float>({n}, numbers(static_cast<size_t>(n), 3));
    Tensor r = Tensor::empty<float>({m, n});
    ASSERT_EQ(groups.run("product", {a, b, bias}, {&r}), "");
    const std::vector<float> av = a.as<float>(), bv = b.as<float>(), cv = bias.as<float>();
    std::vector<float> expected(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0.0f;
        for (int64_t l = 0; l < k; ++l) sum += av[static_cast<size_t>(i * k + l)] * bv[static_cast<size_t>(l * n + j)];
        expected[static_cast<size_t>(i * n + j)] = std::max(sum + cv[static_cast<size_t>(j)], 0.0f);
      }
    }
    EXPECT_EQ(r.as<float>(), expected) << m << "x" << n << "x" << k;
  }
}

TEST_P(KernelTest, WritesTiedResultsInPlace) {
  CompiledGroups groups(R"(
func.func @step(%x: tensor<?xf32>, %scale: f64, %y: tensor<?xf32>, %offset: index) -> tensor<?xf32>
    attributes {tied_operands = [2]} {
  %s = arith.truncf %scale : f64 to f32
  %o = arith.index_cast %offset : index to i32
  %of = arith.sitofp %o : i32 to f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %s : f32
    %q = arith.addf %p, %out : f32
    %t = arith.addf %q, %of : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const int64_t n = 40000;
  Tensor x = Tensor::of<float>({n}, numbers(n, 1)), y = Tensor::of<float>({n}, numbers(n, 2));
  const std::vector<float> before = y.as<float>();
  Tensor& result = y;
  ASSERT_EQ(groups.run("step", {x, scalar(0.5), y, scalar(int64_t{-3})}, {&result}), "");
  const std::vector<float> xv = x.as<float>(), after = y.as<float>();
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(after[i], xv[i] * 0.5f + before[i] - 3.0f) << i;
}

TEST_P(KernelTest, ComputesSoftmaxWithTemporaries) {
  CompiledGroups groups(R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%a: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = tensor.dim %a, %c0 : tensor<?x80xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %e2 = tensor.empty(%m) : tensor<?x80xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x80xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %max : tensor<?x80xf32>, tensor<?xf32>) outs(%e2 : tensor<?x80xf32>) {
  ^bb0(%in: f32, %top: f32, %out: f32):
    %d = arith.subf %in, %top : f32
    %s = math.exp %d : f32
    linalg.yield %s : f32
  } -> tensor<?x80xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<?x80xf32>) outs(%g : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<?x80xf32>, tensor<?xf32>) outs(%e2 : tensor<?x80xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %d = arith.divf %in, %all : f32
    linalg.yield %d : f32
  } -> tensor<?x80xf32>
  return %r : tensor<?x80xf32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const int64_t m = 1000;
  Tensor a = Tensor::of<float>({m, 80}, numbers(m * 80)), r = Tensor::empty<float>({m, 80});
  ASSERT_EQ(groups.run("softmax", {a}, {&r}), "");
  EXPECT_GT(groups.workgroups("softmax", {a}, {&r}), 1u);
  const std::vector<float> av = a.as<float>(), got = r.as<float>();
  for (size_t row = 0; row < m; ++row) {
    double sum = 0.0;
    for (size_t i = 0; i < 80; ++i) sum += std::exp(static_cast<double>(av[row * 80 + i]));
    for (size_t i = 0; i < 80; ++i) {
      ASSERT_NEAR(got[row * 80 + i], std::exp(static_cast<double>(av[row * 80 + i])) / sum, 1e-6) << row << " " << i;
    }
  }
}

TEST_P(KernelTest, MovesDataThroughLoops) {
  CompiledGroups groups(R"(
func.func @transpose(%a: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi32>
  %n = tensor.dim %a, %c1 : tensor<?x?xi32>
  %e = tensor.empty(%n, %m) : tensor<?x?xi32>
  %r = linalg.transpose ins(%a : tensor<?x?xi32>) outs(%e : tensor<?x?xi32>) permutation = [1, 0]
  return %r : tensor<?x?xi32>
}
func.func @pad(%a: tensor<2x3xi32>, %v: i32) -> tensor<4x5xi32> {
  %r = tensor.pad %a low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : i32
  } : tensor<2x3xi32> to tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}
func.func @concat(%a: tensor<2x3xi32>, %b: tensor<2x2xi32>) -> tensor<2x5xi32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x5xi32>
  return %r : tensor<2x5xi32>
}
func.func @slice(%a: tensor<6x4xi32>) -> tensor<2x2xi32> {
  %r = tensor.extract_slice %a[1, 1] [2, 2] [3, 2] : tensor<6x4xi32> to tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
func.func @insert(%a: tensor<6x4xi32>, %b: tensor<2x2xi32>) -> tensor<6x4xi32> attributes {tied_operands = [0]} {
  %r = tensor.insert_slice %b into %a[1, 1] [2, 2] [3, 2] : tensor<2x2xi32> into tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}
func.func @reshape(%a: tensor<4x6xi32>) -> tensor<2x2x6xi32> {
  %r = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xi32> into tensor<2x2x6xi32>
  return %r : tensor<2x2x6xi32>
}
func.func @copy(%a: tensor<?xi32>) -> tensor<?xi32> {
  return %a : tensor<?xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const auto iota = [](std::vector<int64_t> shape, int32_t first) {
    Tensor tensor = Tensor::empty<int32_t>(shape);
    std::vector<int32_t> values(tensor.bytes.size() / 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int32_t>(i);
    return Tensor::of<int32_t>(std::move(shape), values);
  };
  Tensor wide = iota({70, 900}, 0), tall = Tensor::empty<int32_t>({900, 70});
  ASSERT_EQ(groups.run("transpose", {wide}, {&tall}), "");
  const std::vector<int32_t> transposed = tall.as<int32_t>();
  for (size_t i = 0; i < transposed.size(); ++i)
    ASSERT_EQ(transposed[i], static_cast<int32_t>(i % 70 * 900 + i / 70)) << i;
  Tensor a = iota({2, 3}, 1), b = iota({2, 2}, 10), padded = Tensor::empty<int32_t>({4, 5});
  ASSERT_EQ(groups.run("pad", {a, scalar(int64_t{-7})}, {&padded}), "");
  EXPECT_EQ(padded.as<int32_t>(),
            (std::vector<int32_t>{-7, -7, -7, -7, -7, 1, 2, 3, -7, -7, 4, 5, 6, -7, -7, -7, -7, -7, -7, -7}));
  Tensor joined = Tensor::empty<int32_t>({2, 5});
  ASSERT_EQ(groups.run("concat", {a, b}, {&joined}), "");
  EXPECT_EQ(joined.as<int32_t>(), (std::vector<int32_t>{1, 2, 3, 10, 11, 4, 5, 6, 12, 13}));
  Tensor c = iota({6, 4}, 0), sliced = Tensor::empty<int32_t>({2, 2});
  ASSERT_EQ(groups.run("slice", {c}, {&sliced}), "");
  EXPECT_EQ(sliced.as<int32_t>(), (std::vector<int32_t>{5, 7, 17, 19}));
  ASSERT_EQ(groups.run("insert", {c, b}, {&c}), "");
  EXPECT_EQ(c.as<int32_t>(), (std::vector<int32_t>{0,  1,  2,  3,  4,  10, 6,  11, 8,  9,  10, 11,
                                                   12, 13, 14, 15, 16, 12, 18, 13, 20, 21, 22, 23}));
  Tensor d = iota({4, 6}, 0), reshaped = Tensor::empty<int32_t>({2, 2, 6});
  ASSERT_EQ(groups.run("reshape", {d}, {&reshaped}), "");
  EXPECT_EQ(reshaped.as<int32_t>(), d.as<int32_t>());
  Tensor copied = Tensor::empty<int32_t>({24});
  Tensor flat = iota({24}, 5);
  ASSERT_EQ(groups.run("copy", {flat}, {&copied}), "");
  EXPECT_EQ(copied.as<int32_t>(), flat.as<int32_t>());
}

TEST_P(KernelTest, ConvolvesPoolsAndFindsMaxima) {
  CompiledGroups groups(R"(
func.func @conv(%a: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %w : tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>)
      outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %r : tensor<1x4x4x4xf32>
}
func.func @pool(%a: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<1x4x4x2xf32>, tensor<2x2xf32>)
      outs(%f : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}
func.func @argmax(%a: tensor<3x9xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %fi = linalg.fill ins(%zero : i64) outs(%ei : tensor<3xi64>) -> tensor<3xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x9xf32>) outs(%f, %fi : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %more, %in, %best : f32
    %w = arith.select %more, %ji, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  Tensor image = Tensor::of<float>({1, 6, 6, 2}, numbers(72, 1)),
         weights = Tensor::of<float>({3, 3, 2, 4}, numbers(72, 2));
  Tensor out = Tensor::empty<float>({1, 4, 4, 4});
  ASSERT_EQ(groups.run("conv", {image, weights}, {&out}), "");
  for (size_t y = 0; y < 4; ++y) {
    for (size_t x = 0; x < 4; ++x) {
      for (size_t c = 0; c < 4; ++c) {
        float sum = 0.0f;
        for (size_t i = 0; i < 18; ++i) {
          const size_t ky = i / 6, kx = i / 2 % 3, k = i % 2;
          sum += image.as<float>()[((y + ky) * 6 + x + kx) * 2 + k] * weights.as<float>()[i * 4 + c];
        }
        ASSERT_EQ(out.as<float>()[(y * 4 + x) * 4 + c], sum);
      }
    }
  }
  Tensor pixels = Tensor::of<float>({1, 4, 4, 2}, numbers(32, 3)), pooled = Tensor::empty<float>({1, 2, 2, 2});
  ASSERT_EQ(groups.run("pool", {pixels}, {&pooled}), "");
  for (size_t i = 0; i < 8; ++i) {
    const size_t at = (i / 4 * 2 * 4 + i / 2 % 2 * 2) * 2 + i % 2;
    const std::vector<float> v = pixels.as<float>();
    EXPECT_EQ(pooled.as<float>()[i], std::max({v[at], v[at + 2], v[at + 8], v[at + 10]}));
  }
  Tensor rows = Tensor::of<float>(
      {3, 9}, {0, 1, 2, 3, 9, 5, 6, 7, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4, -1, -2, -3, -4, -5, -6, -7, -8, -0.5f});
  Tensor best = Tensor::empty<float>({3}), at = Tensor::empty<int64_t>({3});
  ASSERT_EQ(groups.run("argmax", {rows}, {&best, &at}), "");
  EXPECT_EQ(best.as<float>(), (std::vector<float>{9, 4, -0.5f}));
  EXPECT_EQ(at.as<int64_t>(), (std::vector<int64_t>{4, 0, 8}));
}

// Shapes that only the dispatch knows: nothing may need memory without a bound, and arguments keep what they hold.
TEST_P(KernelTest, TakesDynamicShapesEverywhere) {
  CompiledGroups groups(R"(
func.func @pad(%a: tensor<?x?xf32>, %v: f32, %l: index) -> tensor<?x?xf32> {
  %p = tensor.pad %a low[%l, 1] high[0, %l] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
func.func @insert(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %r = tensor.insert_slice %b into %a[%n, 1] [%n, %n] [1, 2] : tensor<?x?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @batch(%a: tensor<?x?x8xf32>, %b: tensor<?x8x?xf32>, %e: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
func.func @two(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %1 = arith.addf %a, %b : tensor<?xf32>
  %2 = arith.mulf %1, %b : tensor<?xf32>
  return %1, %2 : tensor<?xf32>, tensor<?xf32>
}
func.func @pad_pool(%a: tensor<1x?x?x3xf32>, %e: tensor<1x?x?x3xf32>) -> tensor<1x?x?x3xf32> {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %p = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %low : f32
  } : tensor<1x?x?x3xf32> to tensor<1x?x?x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x?x?x3xf32>) -> tensor<1x?x?x3xf32>
  %r = linalg.pooling_nhwc_max ins(%p, %w : tensor<1x?x?x3xf32>, tensor<3x3xf32>) outs(%f : tensor<1x?x?x3xf32>) -> tensor<1x?x?x3xf32>
  return %r : tensor<1x?x?x3xf32>
}
func.func @splat(%v: f32, %n: index) -> tensor<?x4xf32> {
  %r = tensor.splat %v[%n] : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  Tensor a = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), padded = Tensor::empty<float>({4, 6});
  ASSERT_EQ(groups.run("pad", {a, scalar(9.0f), scalar(int64_t{2})}, {&padded}), "");
  EXPECT_EQ(padded.as<float>(), (std::vector<float>{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,  //
                                                    9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9}));
  Tensor into = Tensor::of<float>({2, 3}, {0, 0, 0, 0, 0, 0}), one = Tensor::of<float>({1, 1}, {7});
  Tensor inserted = Tensor::empty<float>({2, 3});
  ASSERT_EQ(groups.run("insert", {into, one, scalar(int64_t{1})}, {&inserted}), "");
  EXPECT_EQ(inserted.as<float>(), (std::vector<float>{0, 0, 0, 0, 7, 0}));
  EXPECT_EQ(into.as<float>(), std::vector<float>(6, 0.0f));
  Tensor b = Tensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1}), c = Tensor::of<float>({2, 2}, {10, 20, 30, 40});
  Tensor product = Tensor::empty<float>({2, 2});
  ASSERT_EQ(groups.run("product", {a, b, c}, {&product}), "");
  EXPECT_EQ(product.as<float>(), (std::vector<float>{14, 25, 40, 51}));
  EXPECT_EQ(c.as<float>(), (std::vector<float>{10, 20, 30, 40}));

  const int64_t batch = 3, m = 130, n = 35;
  Tensor x = Tensor::of<float>({batch, m, 8}, numbers(batch * m * 8, 4)),
         y = Tensor::of<float>({batch, 8, n}, numbers(batch * 8 * n, 5));
  Tensor z = Tensor::empty<float>({batch, m, n}), unused = z;
  ASSERT_EQ(groups.run("batch", {x, y, unused}, {&z}), "");
  const std::vector<float> xv = x.as<float>(), yv = y.as<float>(), zv = z.as<float>();
  for (size_t i = 0; i < zv.size(); ++i) {
    const size_t row = i / n, column = i % n, matrix = row / m;
    float sum = 0.0f;
    for (size_t k = 0; k < 8; ++k) sum += xv[row * 8 + k] * yv[(matrix * 8 + k) * n + column];
    ASSERT_EQ(zv[i], sum) << i;
  }
  Tensor p = Tensor::of<float>({3}, {1, 2, 3}), q = Tensor::of<float>({3}, {4, 5, 6});
  Tensor sum = Tensor::empty<float>({3}), scaled = Tensor::empty<float>({3});
  ASSERT_EQ(groups.run("two", {p, q}, {&sum, &scaled}), "");
  EXPECT_EQ(sum.as<float>(), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(scaled.as<float>(), (std::vector<float>{20, 35, 54}));

  const size_t height = 7, width = 5;
  Tensor image = Tensor::of<float>({1, 7, 5, 3}, numbers(105, 6)), pooled = Tensor::empty<float>({1, 7, 5, 3}),
         like = pooled;
  ASSERT_EQ(groups.run("pad_pool", {image, like}, {&pooled}), "");
  const std::vector<float> pixels = image.as<float>(), maxima = pooled.as<float>();
  for (size_t i = 0; i < pixels.size(); ++i) {
    const size_t channel = i % 3, at_x = i / 3 % width, at_y = i / 3 / width;
    float largest = -INFINITY;
    for (size_t j = 0; j < pixels.size(); ++j) {
      const size_t jx = j / 3 % width, jy = j / 3 / width;
      const bool near = jx + 1 >= at_x && jx <= at_x + 1 && jy + 1 >= at_y && jy <= at_y + 1;
      if (near && j % 3 == channel) largest = std::max(largest, pixels[j]);
    }
    ASSERT_EQ(maxima[i], largest) << i << " of " << height;
  }
  Tensor filled = Tensor::empty<float>({3, 4});
  ASSERT_EQ(groups.run("splat", {scalar(2.5f), scalar(int64_t{3})}, {&filled}), "");
  EXPECT_EQ(filled.as<float>(), std::vector<float>(12, 2.5f));
}

// As a flow.dispatch.region's body: two workgroups of four elements, the last of two, through a function of the host.
TEST(KernelRegionTest, RunsUserFunctionsOnSlices) {
  struct Params {
    const float* a;
    size_t a_at;
    float* r;
    size_t r_at, size, id;
  };
  const auto twice = [](void* raw, void*, void*) -> int {
    const auto* params = static_cast<Params*>(raw);
    for (size_t i = 0; i < params->size; ++i) {
      params->r[params->r_at + i] = 2.0f * params->a[params->a_at + i] + static_cast<float>(100 * params->id);
    }
    return 0;
  };
  auto symbols = std::make_shared<hal::drivers::local::HostSymbols>();
  symbols->add("twice", twice);
  CompileOptions options;
  options.device.imports.add(std::move(symbols));
  CompiledGroups groups(R"(
func.func @region(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %id = flow.dispatch.workgroup.id[0] : index
  %count = flow.dispatch.workgroup.count[0] : index
  %tile = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%n, %count]
  %at = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%id, %tile]
  %size = affine.min affine_map<()[s0, s1, s2] -> (s0, s1 - s2)>()[%tile, %n, %at]
  %e = tensor.empty(%n) : tensor<?xf32>
  %in = tensor.extract_slice %a[%at] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %out = tensor.extract_slice %e[%at] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %r = iree_codegen.ukernel.generic "twice" ins(%in : tensor<?xf32>) outs(%out : tensor<?xf32>)
      (%size, %id : index, index) strided_dims([[], []]) -> tensor<?xf32>
  %all = tensor.insert_slice %r into %e[%at] [%size] [1] : tensor<?xf32> into tensor<?xf32>
  return %all : tensor<?xf32>
})",
                        std::move(options));
  ASSERT_EQ(groups.messages(), "");
  Tensor a = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6}), r = Tensor::empty<float>({6});
  // Words: n, the size of the argument, the size of the result.
  ASSERT_EQ(groups.run_kernel("region", {6, 6, 6}, {&a, &r}, 2), "");
  EXPECT_EQ(r.as<float>(), (std::vector<float>{2, 4, 6, 108, 110, 112}));
}

INSTANTIATE_TEST_SUITE_P(Levels, KernelTest, testing::ValuesIn(host_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace baton::compiler_lite::codegen
