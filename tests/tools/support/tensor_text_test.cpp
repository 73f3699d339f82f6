// Tensors are read from text as people write it, what does not fit is named, and what is printed reads back.
#include "tools/support/tensor_text.hpp"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.hpp"

namespace baton::tools {
namespace {

std::string round_trip(std::string_view text, uint64_t most = kPrintedElements) {
  auto tensor = parse_tensor(text);
  if (!tensor) return std::string(tensor.error().message());
  return describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes, most);
}

TEST(TensorTextTest, WhatIsPrintedReadsBack) {
  for (const char* text :
       {"f32=3", "4xi32=1 -2 3 4", "2x2xf32=[1 2][3 4]", "2x1x2xi64=[[1 2]][[3 4]]", "2xf16=0.5 -INF", "2xbf16=1 NAN",
        "3xui8=255 0 1", "2xi1=1 0", "2x0xf32=", "0xi8=", "1x1x1x1xsi16=[[[-5]]]", "2xui64=18446744073709551615 1",
        "2xf64=1E+300 1E-300", "3xcomplex<f32>=1+2j -0.5-0.001j 1E-10-INFj", "complex<f64>=NAN+NANj"}) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(TensorTextTest, SeparatorsAreCommasBlanksAndBrackets) {
  EXPECT_EQ(round_trip("2x2xi32= [ 1,2 ],\n[3\t4]"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(round_trip("2x3xi8=7"), "2x3xi8=[7 7 7][7 7 7]");
  EXPECT_EQ(round_trip("2xi8"), "2xi8=0 0");
  EXPECT_EQ(round_trip("2xi8=0xff +1"), "2xi8=-1 1");
  EXPECT_EQ(round_trip("2xcomplex<f64>=3 1e-5+2e+3j"), "2xcomplex<f64>=3+0j 1E-05+2000j");
}

TEST(TensorTextTest, MoreThanIsAskedForIsCut) {
  EXPECT_EQ(round_trip("5xi8=1 2 3 4 5", 3), "5xi8=1 2 3...");
  EXPECT_EQ(round_trip("2x2xi8=1 2 3 4", 2), "2x2xi8=[1 2]...");
  EXPECT_EQ(round_trip("2x2xi8=1 2 3 4", 3), "2x2xi8=[1 2][3...]");
  EXPECT_EQ(round_trip("2xi8=1 2", 0), "2xi8=...");
}

TEST(TensorTextTest, WhatDoesNotFitIsNamed) {
  EXPECT_FAILS(parse_tensor("3xi8=1 2"), StatusCode::kInvalidArgument,
               "a tensor of 3xi8 takes 3 values, or one for all; 2 were given");
  EXPECT_FAILS(parse_tensor("2xi8="), StatusCode::kInvalidArgument, "0 were given");
  EXPECT_FAILS(parse_tensor("2xi8=1 128x"), StatusCode::kInvalidArgument, "'128x' is not a value of type i8");
  EXPECT_FAILS(parse_tensor("2xsi8=1 128"), StatusCode::kInvalidArgument, "'128' is not a value of type si8");
  EXPECT_FAILS(parse_tensor("2xui8=1 -1"), StatusCode::kInvalidArgument, "'-1' is not a value of type ui8");
  EXPECT_FAILS(parse_tensor("1xi1=2"), StatusCode::kInvalidArgument, "'2' is not a value of type i1");
  EXPECT_FAILS(parse_tensor("1xf16=65520"), StatusCode::kInvalidArgument, "'65520' is not a value of type f16");
  EXPECT_FAILS(parse_tensor("1xf32=1e39"), StatusCode::kInvalidArgument, "is not a value of type f32");
  EXPECT_FAILS(parse_tensor("-1xf32=1"), StatusCode::kInvalidArgument, "is not a tensor type");
  EXPECT_FAILS(parse_tensor("2x=1"), StatusCode::kInvalidArgument, "is not a tensor type");
  EXPECT_FAILS(parse_tensor("99999999999x99999999999xf32=1"), StatusCode::kInvalidArgument, "exceeds 68719476736");
  for (const char* text :
       {"1xcomplex<f32>=1+j", "1xcomplex<f32>=2j", "1xcomplex<f32>=1+1e39j", "1xcomplex<f32>=1e+5j"}) {
    EXPECT_FAILS(parse_tensor(text), StatusCode::kInvalidArgument, "is not a value of type complex<f32>");
  }
}

}  // namespace
}  // namespace baton::tools
