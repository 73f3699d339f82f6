// turn_blocks: what is read along columns gives the same values, on every level and at sizes around the blocks.
#include <gtest/gtest.h>

#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen::cpu {
namespace {

class TurnedBlocksTest : public testing::TestWithParam<std::string> {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.levels = {GetParam()};
    return options;
  }
};

template <typename T>
Tensor count_up(std::vector<int64_t> shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 16381);
  return Tensor::of<T>(std::move(shape), values);
}

std::string with_type(std::string text, const std::string& type) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;) {
    if (text[at + 1] == 'T') text.replace(at, 2, type);
    ++at;
  }
  return text;
}

// Open sizes: blocks that are whole and blocks that are not, in one kernel.
constexpr const char* kTranspose = R"(
func.func @transpose(%a: tensor<?x?x@T>) -> tensor<?x?x@T> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?x@T>
  %n = tensor.dim %a, %c1 : tensor<?x?x@T>
  %e = tensor.empty(%n, %m) : tensor<?x?x@T>
  %r = linalg.transpose ins(%a : tensor<?x?x@T>) outs(%e : tensor<?x?x@T>) permutation = [1, 0]
  return %r : tensor<?x?x@T>
})";

template <typename T>
void transpose(const CompileOptions& options, const std::string& type) {
  CompiledGroups groups(with_type(kTranspose, type), options);
  ASSERT_EQ(groups.messages(), "") << type;
  for (const auto& [m, n] : {std::pair<size_t, size_t>{1, 1}, {3, 200}, {32, 64}, {67, 129}, {100, 31}}) {
    Tensor a = count_up<T>({static_cast<int64_t>(m), static_cast<int64_t>(n)});
    Tensor r = Tensor::empty<T>({static_cast<int64_t>(n), static_cast<int64_t>(m)});
    ASSERT_EQ(groups.run("transpose", {a}, {&r}), "") << type;
    const std::vector<T> from = a.as<T>();
    std::vector<T> expected(m * n);
    for (size_t i = 0; i < m * n; ++i) expected[i] = from[i % m * n + i / m];
    EXPECT_EQ(r.as<T>(), expected) << type << " " << m << " x " << n;
  }
}

TEST_P(TurnedBlocksTest, OfAllElementTypes) {
  transpose<uint8_t>(options(), "i8");
  transpose<uint16_t>(options(), "i16");
  transpose<uint16_t>(options(), "f16");
  transpose<uint16_t>(options(), "bf16");
  transpose<uint32_t>(options(), "i32");
  transpose<float>(options(), "f32");
  transpose<uint64_t>(options(), "i64");
  transpose<double>(options(), "f64");
  transpose<uint64_t>(options(), "index");
}

TEST_P(TurnedBlocksTest, InComputationsOfSeveralOperands) {
  // Both of %a and %b are turned, %c is not, %d is repeated; the body asks where it is, and types differ.
  CompiledGroups groups(R"(
#turned = affine_map<(i, j, k) -> (k, i, j)>
func.func @mix(%a: tensor<40x5x72xf32>, %b: tensor<40x5x72xf16>, %c: tensor<5x72x40xf64>, %d: tensor<72xf64>)
    -> (tensor<5x72x40xf64>, tensor<5x72x40xi32>) {
  %e = tensor.empty() : tensor<5x72x40xf64>
  %f = tensor.empty() : tensor<5x72x40xi32>
  %r:2 = linalg.generic {
      indexing_maps = [#turned, #turned, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>,
                       affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %c, %d : tensor<40x5x72xf32>, tensor<40x5x72xf16>, tensor<5x72x40xf64>, tensor<72xf64>)
      outs(%e, %f : tensor<5x72x40xf64>, tensor<5x72x40xi32>) {
  ^bb0(%p: f32, %q: f16, %s: f64, %t: f64, %u: f64, %v: i32):
    %c100 = arith.constant 100 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %i100 = arith.muli %i, %c100 : index
    %ij = arith.addi %i100, %j : index
    %ij100 = arith.muli %ij, %c100 : index
    %ijk = arith.addi %ij100, %k : index
    %place = arith.index_cast %ijk : index to i32
    %p64 = arith.extf %p : f32 to f64
    %q64 = arith.extf %q : f16 to f64
    %0 = arith.subf %p64, %q64 : f64
    %1 = arith.addf %0, %s : f64
    %2 = arith.addf %1, %t : f64
    linalg.yield %2, %place : f64, i32
  } -> (tensor<5x72x40xf64>, tensor<5x72x40xi32>)
  return %r#0, %r#1 : tensor<5x72x40xf64>, tensor<5x72x40xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  constexpr size_t kRows = 5, kColumns = 72, kDepth = 40, kCount = kRows * kColumns * kDepth;
  Tensor a = count_up<float>({40, 5, 72}), c = count_up<double>({5, 72, 40}), d = count_up<double>({72});
  Tensor b = Tensor::of<uint16_t>({40, 5, 72}, std::vector<uint16_t>(kCount, 0x4000));  // 2.0
  Tensor r = Tensor::empty<double>({5, 72, 40}), places = Tensor::empty<int32_t>({5, 72, 40});
  ASSERT_EQ(groups.run("mix", {a, b, c, d}, {&r, &places}), "");
  const std::vector<float> av = a.as<float>();
  const std::vector<double> cv = c.as<double>();
  std::vector<double> expected(kCount);
  std::vector<int32_t> expected_places(kCount);
  for (size_t at = 0; at < kCount; ++at) {
    const size_t i = at / (kColumns * kDepth), j = at / kDepth % kColumns, k = at % kDepth;
    expected[at] = static_cast<double>(av[(k * kRows + i) * kColumns + j]) - 2 + cv[at] + static_cast<double>(j);
    expected_places[at] = static_cast<int32_t>((i * 100 + j) * 100 + k);
  }
  EXPECT_EQ(r.as<double>(), expected);
  EXPECT_EQ(places.as<int32_t>(), expected_places);
}

TEST_P(TurnedBlocksTest, ShufflesAndReadsNoSingleElements) {
  CompiledGroups groups(R"(
func.func @turn(%a: tensor<128x192xf32>) -> tensor<192x128xf32> {
  %e = tensor.empty() : tensor<192x128xf32>
  %r = linalg.transpose ins(%a : tensor<128x192xf32>) outs(%e : tensor<192x128xf32>) permutation = [1, 0]
  return %r : tensor<192x128xf32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  const std::string code = groups.llvm_ir();
  EXPECT_NE(code.find("shufflevector <"), std::string::npos);
  EXPECT_EQ(code.find("load float,"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Levels, TurnedBlocksTest, testing::ValuesIn(host_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu
