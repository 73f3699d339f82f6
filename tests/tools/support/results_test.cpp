// Results print as programs and golden files expect them.
#include "tools/support/results.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "vm/blob.hpp"

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
  const Value results[] = {Value::of(int32_t{5}), Value::of(blob.get()), Value()};
  EXPECT_EQ(*describe_results("v_ir<blob>r", results),
            "result[0]: i32=5\nresult[1]: blob (16 bytes)\nresult[2]: null\n");
  release_results("v_ir<blob>r", results);
  EXPECT_EQ(blob->count, 1u);
}

}  // namespace
}  // namespace baton::tools
