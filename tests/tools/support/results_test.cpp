// Results print as programs and golden files expect them.
#include "tools/support/results.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "vm/blob.hpp"
#include "vm/list.hpp"

namespace baton::tools {
namespace {

using vm::Value;
using vm::ValueType;

TEST(Results, PrintIntegersWithTheirSign) {
  EXPECT_EQ(describe_value(ValueType::kI32, Value::of(int32_t{-5})), "i32=-5");
  EXPECT_EQ(describe_value(ValueType::kI64, Value::of(INT64_MIN)), "i64=-9223372036854775808");
}

TEST(Results, PrintFloatsWithSixDigits) {
  EXPECT_EQ(describe_value(ValueType::kF32, Value::of(1.0f / 3)), "f32=0.333333");
  EXPECT_EQ(describe_value(ValueType::kF64, Value::of(1e-10)), "f64=1E-10");
  EXPECT_EQ(describe_value(ValueType::kF64, Value::of(-0.0)), "f64=-0");
  EXPECT_EQ(describe_value(ValueType::kF32, Value::of(-NAN)), "f32=NAN");
  EXPECT_EQ(describe_value(ValueType::kF64, Value::of(-HUGE_VAL)), "f64=-INF");
}

TEST(Results, PrintOneLineEachAndReleaseReferences) {
  Ref<vm::Blob> blob = vm::Blob::make(16);
  blob->retain();
  EXPECT_EQ(*describe_result(0, ValueType::kI32, Value::of(int32_t{5})), "result[0]: i32=5\n");
  EXPECT_EQ(*describe_result(1, ValueType::kRef, Value::of(blob.get())), "result[1]: blob (16 bytes)\n");
  EXPECT_EQ(*describe_result(2, ValueType::kRef, Value()), "result[2]: null\n");
  const Value results[] = {Value::of(int32_t{5}), Value::of(blob.get()), Value()};
  release_results("v_ir<blob>r", results);
  EXPECT_EQ(blob->count, 1u);
}

TEST(Results, PrintListsWithTheirElements) {
  const Ref<vm::List> list = vm::List::make(), inner = vm::List::make();
  inner->push(ValueType::kF32, Value::of(2.5f));
  list->push(ValueType::kI64, Value::of(int64_t{-1}));
  list->push(ValueType::kRef, Value::of(inner.get()));
  EXPECT_EQ(*describe_result(0, ValueType::kRef, Value::of(list.get())),
            "result[0]: list (2 elements)\n  [0]: i64=-1\n  [1]: list (1 elements)\n    [0]: f32=2.5\n");
  list->push(ValueType::kRef, Value::of(list.get()));  // Printing a ring ends.
  EXPECT_TRUE(describe_result(0, ValueType::kRef, Value::of(list.get())));
  list->set(2, ValueType::kI32, Value());
}

TEST(Results, AreTensorsOfRankNoneOrBytes) {
  const auto number = tensor_of_result(ValueType::kF64, Value::of(2.5), nullptr);
  ASSERT_TRUE(number && *number);
  EXPECT_EQ(describe_tensor((*number)->type.shape, (*number)->type.element_type, (*number)->bytes), "f64=2.5");
  const Ref<vm::Blob> blob = vm::Blob::make(3);
  const auto bytes = tensor_of_result(ValueType::kRef, Value::of(blob.get()), nullptr);
  ASSERT_TRUE(bytes && *bytes);
  EXPECT_EQ(describe_tensor((*bytes)->type.shape, (*bytes)->type.element_type, (*bytes)->bytes), "3xui8=0 0 0");
  EXPECT_FALSE(*tensor_of_result(ValueType::kRef, Value(), nullptr));
}

}  // namespace
}  // namespace baton::tools
