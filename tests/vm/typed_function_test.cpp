// Goal: a host that takes a function for another type learns of it when it looks the function up, with both types in
// the sentence, and a call of the right type gives the right values.
#include "vm/typed_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProgram = R"(
import @native.make() -> test.counted
export func @none() { return }
export func @i32(%a: i32) -> i32 { return }
export func @i64(%a: i64) -> i64 { return }
export func @f32(%a: f32) -> f32 { return }
export func @f64(%a: f64) -> f64 { return }
export func @ref(%a: ref) -> ref { return }
export func @typed(%a: test.counted) -> test.counted { return }
export func @swap(%a: i32, %b: f64) -> (f64, i32) {
  move %v2, %a
  move %v0, %b
  move %v1, %v2
  return
}
export func @make() -> test.counted {
  call.import @native.make, %v0, %r0
  return
})";

class TypedFunctionTest : public ::testing::Test {
 protected:
  template <typename Signature>
  std::string verdict(std::string_view name) {
    auto function = TypedFunction<Signature>::find(*context_, name);
    return function ? "taken" : function.error().to_string();
  }
  template <typename Signature>
  TypedFunction<Signature> find(std::string_view name) {
    return testing::expect_ok(TypedFunction<Signature>::find(*context_, name));
  }

  Ref<Context> context_ = testing::make_context({testing::make_native_module(), testing::load_text(kProgram)});
  Invocation invocation_{context_};
};

// Every type of value for every other.
template <typename T>
struct Named {
  std::string_view name;
  using Signature = T(T);
};
TEST_F(TypedFunctionTest, OnlyItsOwnTypeFits) {
  constexpr std::string_view kNames[] = {"none", "i32", "i64", "f32", "f64", "ref"};
  const auto taken_as = [&](std::string_view right, auto verdict_of) {
    for (std::string_view name : kNames) {
      const std::string verdict = verdict_of(name);
      if (name == right) {
        EXPECT_EQ(verdict, "taken");
      } else {
        EXPECT_THAT(verdict, HasSubstr(std::string("INVALID_ARGUMENT; function '").append(name).append("' is (")));
        EXPECT_THAT(verdict, HasSubstr("; it was taken for ("));
      }
    }
  };
  taken_as("none", [&](std::string_view name) { return verdict<void()>(name); });
  taken_as("i32", [&](std::string_view name) { return verdict<int32_t(int32_t)>(name); });
  taken_as("i64", [&](std::string_view name) { return verdict<int64_t(int64_t)>(name); });
  taken_as("f32", [&](std::string_view name) { return verdict<float(float)>(name); });
  taken_as("f64", [&](std::string_view name) { return verdict<double(double)>(name); });
  taken_as("ref", [&](std::string_view name) { return verdict<Ref<Object>(Object*)>(name); });
}

TEST_F(TypedFunctionTest, TheSentenceHasBothTypes) {
  EXPECT_EQ((verdict<int32_t(float)>("i32")),
            "INVALID_ARGUMENT; function 'i32' is (i32) -> (i32); it was taken for (f32) -> (i32)");
  EXPECT_THAT((verdict<int32_t()>("nowhere")), HasSubstr("no function 'nowhere'"));
}

TEST_F(TypedFunctionTest, ValuesArriveAndComeBack) {
  EXPECT_TRUE(find<void()>("none")(invocation_).ok());
  EXPECT_EQ(*find<int32_t(int32_t)>("i32")(invocation_, -7), -7);
  EXPECT_EQ(*find<int64_t(int64_t)>("i64")(invocation_, int64_t{1} << 40), int64_t{1} << 40);
  EXPECT_EQ(*find<float(float)>("f32")(invocation_, 1.5f), 1.5f);
  EXPECT_EQ(*find<double(double)>("f64")(invocation_, -0.25), -0.25);
  EXPECT_EQ((*find<std::tuple<double, int32_t>(int32_t, double)>("swap")(invocation_, 3, 0.5)), std::tuple(0.5, 3));
}

TEST_F(TypedFunctionTest, ReferencesAreBorrowedAndResultsOwned) {
  {
    const Ref<Object> made = *find<Ref<Object>()>("make")(invocation_);
    EXPECT_EQ(made->count, 1u);
    const Ref<Object> same = *find<Ref<Object>(Object*)>("typed")(invocation_, made.get());
    EXPECT_EQ(same.get(), made.get());
    EXPECT_EQ(made->count, 2u);
  }
  EXPECT_EQ(testing::Counted::living, 0);
}

TEST_F(TypedFunctionTest, TextNamesReferenceTypesOrLeavesThemOut) {
  const ExportedFunction function = testing::expect_ok(context_->find_function("typed"));
  EXPECT_TRUE(check_signature(function, "r<test.counted>_r<test.counted>").ok());
  EXPECT_TRUE(check_signature(function, "r_r").ok());
  EXPECT_THAT(check_signature(function, "r<test.gate>_r").to_string(), HasSubstr("it was taken for (test.gate)"));
  EXPECT_THAT(check_signature(function, "r<").to_string(), HasSubstr("in the type 'r<' that function 'typed'"));
}

}  // namespace
}  // namespace baton::vm
