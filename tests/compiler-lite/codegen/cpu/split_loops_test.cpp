// split_loops: bodies that ask how far a loop is read the right tensor on both sides, in every tile.
#include <gtest/gtest.h>

#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen::cpu {
namespace {

class SplitLoopsTest : public testing::TestWithParam<std::string> {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.levels = {GetParam()};
    return options;
  }
};

std::vector<int32_t> count_up(size_t count, int32_t first) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + static_cast<int32_t>(i);
  return values;
}

// As JAX writes a concatenation. Tiles begin before, at and after the places that it asks about.
TEST_P(SplitLoopsTest, JoinsThree) {
  CompiledGroups groups(R"(
func.func @join(%a: tensor<40000xi32>, %b: tensor<5xi32>, %c: tensor<60000xi32>) -> tensor<100005xi32> {
  %first = arith.constant 40000 : index
  %second = arith.constant 40005 : index
  %e = tensor.empty() : tensor<100005xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<100005xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %in_a = arith.cmpi ult, %i, %first : index
    %0 = scf.if %in_a -> (i32) {
      %x = tensor.extract %a[%i] : tensor<40000xi32>
      scf.yield %x : i32
    } else {
      %beyond = arith.cmpi uge, %i, %second : index
      %1 = scf.if %beyond -> (i32) {
        %in_c = arith.subi %i, %second : index
        %z = tensor.extract %c[%in_c] : tensor<60000xi32>
        scf.yield %z : i32
      } else {
        %in_b = arith.subi %i, %first : index
        %y = tensor.extract %b[%in_b] : tensor<5xi32>
        scf.yield %y : i32
      }
      scf.yield %1 : i32
    }
    linalg.yield %0 : i32
  } -> tensor<100005xi32>
  return %r : tensor<100005xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  Tensor a = Tensor::of<int32_t>({40000}, count_up(40000, 0)), b = Tensor::of<int32_t>({5}, count_up(5, 40000));
  Tensor c = Tensor::of<int32_t>({60000}, count_up(60000, 40005)), r = Tensor::empty<int32_t>({100005});
  ASSERT_EQ(groups.run("join", {a, b, c}, {&r}), "");
  EXPECT_EQ(r.as<int32_t>(), count_up(100005, 0));
}

// Two questions at once, of which one is about another loop, and a place that no step reaches.
TEST_P(SplitLoopsTest, ReadsInsideOfFrames) {
  CompiledGroups groups(R"(
func.func @frame(%a: tensor<30x50xi32>, %n: index) -> tensor<?x70xi32> {
  %top = arith.constant 3 : index
  %left = arith.constant 7 : index
  %right = arith.constant 57 : index
  %far = arith.constant 1000 : index
  %zero = arith.constant 0 : i32
  %e = tensor.empty(%n) : tensor<?x70xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x70xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi uge, %i, %top : index
    %after = arith.cmpi sge, %j, %left : index
    %before = arith.cmpi slt, %j, %right : index
    %near = arith.cmpi ult, %j, %far : index
    %0 = arith.andi %below, %after : i1
    %1 = arith.andi %0, %before : i1
    %2 = arith.andi %1, %near : i1
    %3 = scf.if %2 -> (i32) {
      %row = arith.subi %i, %top : index
      %column = arith.subi %j, %left : index
      %x = tensor.extract %a[%row, %column] : tensor<30x50xi32>
      scf.yield %x : i32
    } else {
      scf.yield %zero : i32
    }
    linalg.yield %3 : i32
  } -> tensor<?x70xi32>
  return %r : tensor<?x70xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  Tensor a = Tensor::of<int32_t>({30, 50}, count_up(1500, 1)), r = Tensor::empty<int32_t>({33, 70});
  ASSERT_EQ(groups.run("frame", {a, scalar(int64_t{33})}, {&r}), "");
  std::vector<int32_t> expected(size_t{33} * 70, 0);
  for (size_t i = 0; i < 1500; ++i) expected[(i / 50 + 3) * 70 + i % 50 + 7] = static_cast<int32_t>(i) + 1;
  EXPECT_EQ(r.as<int32_t>(), expected);
}

INSTANTIATE_TEST_SUITE_P(Levels, SplitLoopsTest, testing::ValuesIn(host_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu
