// --input= texts become register values by the signature, and what does not fit is named.
#include "tools/flags/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace baton::tools::flags {
namespace {

using testing::HasSubstr;
using vm::Value;
using vm::ValueType;

std::string message_of(std::string_view signature, const std::vector<std::string>& inputs) {
  Result<std::vector<Value>> values = parse_inputs("f", signature, inputs);
  return values ? "" : std::string(values.error().message());
}

TEST(Inputs, TakeTheirTypesFromTheSignature) {
  Result<std::vector<Value>> values = parse_inputs("f", "iIfFr_v", {"5", "-6", "1.5", "f64=-2.5e300", "null"});
  ASSERT_TRUE(values.has_value()) << values.error().message();
  EXPECT_EQ((*values)[0].as<int32_t>(), 5);
  EXPECT_EQ((*values)[1].as<int64_t>(), -6);
  EXPECT_EQ((*values)[2].as<float>(), 1.5f);
  EXPECT_EQ((*values)[3].as<double>(), -2.5e300);
  EXPECT_EQ((*values)[4].ref, nullptr);
}

TEST(Inputs, OfThirtyTwoBitsLeaveTheHighHalfZero) {
  Result<std::vector<Value>> values = parse_inputs("f", "if_v", {"-1", "-1"});
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ((*values)[0].bits, 0xffffffffu);
  EXPECT_EQ((*values)[1].bits, 0xbf800000u);
}

TEST(Inputs, TakeEdgesOfTheirRange) {
  EXPECT_EQ(parse_scalar("-2147483648", ValueType::kI32)->as<int32_t>(), INT32_MIN);
  EXPECT_EQ(parse_scalar("4294967295", ValueType::kI32)->as<int32_t>(), -1);
  EXPECT_EQ(parse_scalar("0xFFFFFFFFFFFFFFFF", ValueType::kI64)->as<int64_t>(), -1);
  EXPECT_EQ(parse_scalar("-9223372036854775808", ValueType::kI64)->as<int64_t>(), INT64_MIN);
  EXPECT_TRUE(std::isnan(parse_scalar("nan", ValueType::kF32)->as<float>()));
  EXPECT_EQ(parse_scalar("-inf", ValueType::kF64)->as<double>(), -INFINITY);
}

TEST(Inputs, RefuseWhatIsNotANumberOfTheType) {
  for (const char* text : {"", "five", "5x", "--5", "4294967296", "-2147483649", "1.0", "0x", "5 "}) {
    EXPECT_FALSE(parse_scalar(text, ValueType::kI32).has_value()) << text;
  }
  for (const char* text : {"", "1e40", "1.5f", "+-1"}) {
    EXPECT_FALSE(parse_scalar(text, ValueType::kF32).has_value()) << text;
  }
}

TEST(Inputs, NameTheSignatureWhenTheyDoNotFit) {
  EXPECT_THAT(message_of("ii_i", {"1"}), HasSubstr("function 'f' is (i32, i32) -> (i32): it takes 2"));
  EXPECT_THAT(message_of("i_v", {"i64=1"}), HasSubstr("its type is i32, not i64"));
  EXPECT_THAT(message_of("i_v", {"1.5"}), HasSubstr("'1.5' is not a value of type i32"));
  EXPECT_THAT(message_of("r<blob>_v", {"5"}), HasSubstr("only null can be given for a reference (blob)"));
  EXPECT_THAT(message_of("CiD_v", {}), HasSubstr("variadic"));
}

}  // namespace
}  // namespace baton::tools::flags
