// Goal: values of another type than a function takes are refused at the host's call, by a sentence that names the
// function, the argument and both types; nothing is kept of a call that was refused. Method: every type at every place of
// signatures with and without references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kNames[] = {"i32", "i64", "f32", "f64", "ref"};

class InvocationTypesTest : public ::testing::Test {
 protected:
  TypedValue value_of(std::string_view type) {
    if (type == "i32") return int32_t{-1};
    if (type == "i64") return int64_t{-1};
    if (type == "f32") return -1.0f;
    if (type == "f64") return -1.0;
    return object_.get();
  }

  // A function that takes the types, and one more of each bank: nothing at the end is left out.
  static std::string program_of(std::string_view a, std::string_view b) {
    return text("export func @taker(%a: ", a, ", %b: ", b,
                ", %c: i32, %d: ref) -> i32 {\n  const.i32 %v0, 7\n  return\n}\n");
  }

  Status call(std::span<const TypedValue> arguments) {
    Value result;
    return invocation_->invoke(testing::expect_ok(context_->find_function("taker")), arguments, {&result, 1});
  }

  Ref<testing::Counted> object_ = make_ref<testing::Counted>();
  Ref<Context> context_;
  std::unique_ptr<Invocation> invocation_;
};

TEST_F(InvocationTypesTest, EveryTypeAtEveryPlace) {
  for (const std::string_view a : kNames) {
    for (const std::string_view b : kNames) {
      context_ = testing::make_context(program_of(a, b));
      invocation_ = std::make_unique<Invocation>(context_);
      for (const std::string_view first : kNames) {
        for (const std::string_view second : kNames) {
          const TypedValue arguments[] = {value_of(first), value_of(second), int32_t{0}, object_.get()};
          const std::string said = call(arguments).to_string();
          const bool refused_first = first != a;
          if (!refused_first && second == b) {
            EXPECT_EQ(said, "OK");
            continue;
          }
          EXPECT_EQ(said, text("INVALID_ARGUMENT; function 'taker' takes (", a, ", ", b,
                               ", i32, ref) -> (i32); argument ", refused_first ? "1 is of type " : "2 is of type ",
                               refused_first ? first : second, ", where ", refused_first ? a : b, " is wanted"));
        }
      }
      EXPECT_EQ(object_->count, 1u) << "a refused call keeps nothing";
    }
  }
}

TEST_F(InvocationTypesTest, WithoutReferences) {
  for (const std::string_view wanted : {"i32", "i64", "f32", "f64"}) {
    context_ = testing::make_context(text("export func @taker(%a: i32, %b: ", wanted, ") -> i32 {\n  return\n}\n"));
    invocation_ = std::make_unique<Invocation>(context_);
    for (const std::string_view given : kNames) {
      const TypedValue arguments[] = {int32_t{3}, value_of(given)};
      const Status status = call(arguments);
      EXPECT_EQ(status.ok(), given == wanted) << status.to_string();
      if (given != wanted) {
        EXPECT_THAT(status.to_string(), HasSubstr(text("argument 2 is of type ", given)));
      }
    }
    const TypedValue one[] = {int32_t{3}};
    EXPECT_THAT(call(one).to_string(), HasSubstr("; 1 arguments were given"));
    EXPECT_THAT(call({}).to_string(), HasSubstr("; 0 arguments were given"));
  }
}

TEST_F(InvocationTypesTest, ALetterThatIsNoneIsRefused) {
  context_ = testing::make_context("export func @taker(%a: i32) -> i32 {\n  return\n}\n");
  invocation_ = std::make_unique<Invocation>(context_);
  TypedValue argument = int32_t{3};
  argument.letter = 0;
  EXPECT_THAT(call({&argument, 1}).to_string(), HasSubstr("argument 1 has the type letter 0, which is none"));
}

// Slots have no types; what fills more than its type's bits is an i64 that would be cut, or an f64.
TEST_F(InvocationTypesTest, SlotsOfThirtyTwoBitsHoldNoMore) {
  for (const std::string_view type : kNames) {
    context_ = testing::make_context(program_of(type, type));
    invocation_ = std::make_unique<Invocation>(context_);
    const bool narrow = type == "i32" || type == "f32";
    for (const uint64_t bits : {uint64_t{0}, uint64_t{0xffffffff}, uint64_t{1} << 32, ~uint64_t{0}}) {
      if (type == "ref" && bits != 0) continue;  // It would be followed.
      const Value slots[] = {Value(), Value::from_bits(bits), Value(), Value::of(object_.get())};
      Value result;
      const Status status =
          invocation_->invoke_slots(testing::expect_ok(context_->find_function("taker")), slots, {&result, 1});
      if (narrow && bits >> 32 != 0) {
        EXPECT_THAT(status.to_string(),
                    HasSubstr(text("argument 2 holds more than 32 bits (", hex(bits), "), where ", type)));
      } else {
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    }
  }
  EXPECT_EQ(object_->count, 1u);
}

TEST_F(InvocationTypesTest, BeginRefusesAsInvokeDoes) {
  context_ = testing::make_context(testing::Modules{testing::load_text(program_of("i32", "f64"))});
  Invocation invocation(context_);
  const ExportedFunction taker = testing::expect_ok(context_->find_function("taker"));
  const TypedValue wrong[] = {1.0f, 1.0, int32_t{0}, object_.get()};
  const auto refused = invocation.begin(taker, wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("argument 1 is of type f32, where i32 is wanted"));
  const TypedValue right[] = {int32_t{1}, 1.0, int32_t{0}, object_.get()};
  EXPECT_EQ(testing::expect_ok(invocation.begin(taker, right)), Invocation::Outcome::kDone);
  Value result;
  testing::expect_ok(invocation.take_results({&result, 1}));
  EXPECT_EQ(result.i32, 7);
  EXPECT_EQ(object_->count, 1u);
}

}  // namespace
}  // namespace baton::vm
