#include "modules/app/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DeclarationTest, TypesAreReadBack) {
  const Declaration step = parse_declaration(
      "sync func @step(%x: tensor<?x4xf32>, %n: i32, %m: index {a.b = (1, 2)}) -> (%y: tensor<?xi1>, f32)");
  EXPECT_TRUE(step.known);
  EXPECT_THAT(step.arguments, ElementsAre("tensor<?x4xf32>", "i32", "index"));
  EXPECT_THAT(step.results, ElementsAre("tensor<?xi1>", "f32"));
  const Declaration plain =
      parse_declaration("func @f(tensor<f32>, !util.list<tuple<i32, f32>>) -> tensor<2xcomplex<f32>>");
  EXPECT_THAT(plain.arguments, ElementsAre("tensor<f32>", "!util.list<tuple<i32, f32>>"));
  EXPECT_THAT(plain.results, ElementsAre("tensor<2xcomplex<f32>>"));
  const Declaration callback = parse_declaration("func @f(%g: (i32) -> f32, %x: i32) -> ()");
  EXPECT_THAT(callback.arguments, ElementsAre("(i32) -> f32", "i32"));
  EXPECT_THAT(callback.results, IsEmpty());
  EXPECT_THAT(parse_declaration("func @f()").arguments, IsEmpty());
}

TEST(DeclarationTest, WhatIsNoneGivesNothing) {
  for (const std::string_view text :
       {"", "f", "(", "func @f(%x: tensor<", ")(", "func @f(((", "->", "f(%, %:) -> (", ">>>)("}) {
    const Declaration declaration = parse_declaration(text);
    EXPECT_LE(declaration.arguments.size(), 2u) << text;
    for (const std::string& type : declaration.arguments) element_of(type);
  }
}

TEST(DeclarationTest, ElementsAndShapesOfTensors) {
  EXPECT_EQ(element_of("tensor<f32>"), "f32");
  EXPECT_EQ(element_of("tensor<?x4xf32>"), "f32");
  EXPECT_EQ(element_of("tensor<2xcomplex<f32>>"), "complex<f32>");
  EXPECT_EQ(element_of("tensor<2xf32, #sparse>"), "f32");
  EXPECT_EQ(element_of("i32"), "");
  EXPECT_EQ(element_of("tensor<"), "");
  EXPECT_TRUE(fits("tensor<f32>", {}));
  EXPECT_FALSE(fits("tensor<f32>", {1}));
  EXPECT_TRUE(fits("tensor<?x4xf32>", {9, 4}));
  EXPECT_FALSE(fits("tensor<?x4xf32>", {4, 9}));
  EXPECT_FALSE(fits("tensor<?x4xf32>", {4}));
  EXPECT_FALSE(fits("tensor<?x4xf32>", {4, 4, 1}));
  EXPECT_TRUE(fits("i32", {4, 4}));  // No tensor: whoever knows better says so.
}

}  // namespace
}  // namespace baton::app
