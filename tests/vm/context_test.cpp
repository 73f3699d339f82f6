// A context holds a program's state: globals, native states, and what initializers do to them.
#include "vm/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using testing::Counted;
using ::testing::HasSubstr;
using testing::load_text;
using testing::make_native_module;

constexpr std::string_view kCounter = R"(
module @counter
global @count : i32 = 40
global const @step : i32 = 1
export func @next() -> i32 {
  global.get %v0, @count
  global.get %v1, @step
  add.i32 %v0, %v0, %v1
  global.set %v0, @count
  return
})";

TEST(Context, GlobalsBeginWithTheirInitialValuesAndKeepTheirState) {
  const Ref<Context> context = testing::make_context(kCounter);
  EXPECT_EQ(testing::call_i32(context, "next"), 41);
  EXPECT_EQ(testing::call_i32(context, "next"), 42);
}

TEST(Context, ContextsOfOneProgramShareNoState) {
  const Ref<Program> program = testing::expect_ok(testing::link({load_text(kCounter)}));
  const Ref<Context> first = testing::expect_ok(Context::make(program));
  const Ref<Context> second = testing::expect_ok(Context::make(program));
  EXPECT_EQ(testing::call_i32(first, "next"), 41);
  EXPECT_EQ(testing::call_i32(first, "next"), 42);
  EXPECT_EQ(testing::call_i32(second, "next"), 41);
}

TEST(Context, KeepsEveryTypeOfGlobalApart) {
  const Ref<Context> context = testing::make_context(R"(
global @i : i32 = -1
global @l : i64 = -1
global @f : f32 = 1.5
global @d : f64 = 2.5
export func @get() -> (i32, i64, f32, f64) {
  global.get %v0, @i
  global.get %v1, @l
  global.get %v2, @f
  global.get %v3, @d
  return
})");
  const std::vector<Value> values = testing::expect_ok(testing::call(context, "get"));
  EXPECT_EQ(values[0].bits, 0xffffffffu);
  EXPECT_EQ(values[1].i64, -1);
  EXPECT_EQ(values[2].f32, 1.5f);
  EXPECT_EQ(values[3].f64, 2.5);
}

constexpr std::string_view kHolder = R"(
module @holder
type test.counted
global @held : test.counted
global @any : ref
export func @hold(%object: ref) {
  global.set.ref %object, @held
  return
}
export func @hold_any(%object: ref) {
  global.set.ref %object, @any
  return
}
export func @get() -> test.counted {
  global.get.ref %r0, @held
  return
})";

TEST(Context, GlobalsOwnTheirReferencesUntilItEnds) {
  Ref<Context> context = testing::make_context({make_native_module(), load_text(kHolder)});
  {
    const Ref<Counted> object = make_ref<Counted>();
    testing::expect_ok(testing::call(context, "hold", {Value::of(object.get())}));
    testing::expect_ok(testing::call(context, "hold_any", {Value::of(object.get())}));
    EXPECT_EQ(object->count, 3u);
    const Ref<Object> got = Ref<Object>::adopt(testing::expect_ok(testing::call(context, "get"))[0].ref);
    EXPECT_EQ(got.get(), object.get());
    testing::expect_ok(testing::call(context, "hold", {Value::of(static_cast<Object*>(nullptr))}));
    EXPECT_EQ(object->count, 3u);
  }
  EXPECT_EQ(Counted::living, 1);
  context = nullptr;
  EXPECT_EQ(Counted::living, 0);
}

TEST(Context, ATypedGlobalTakesItsTypeOnly) {
  const Ref<Context> context = testing::make_context({make_native_module(), load_text(kHolder)});
  const Ref<Blob> blob = Blob::make(5);
  const Status trap = testing::call_fails(context, "hold", {Value::of(blob.get())});
  EXPECT_THAT(std::string(trap.message()),
              HasSubstr("reference is of another type (global.set.ref: a blob of 5 bytes)"));
  testing::expect_ok(testing::call(context, "hold_any", {Value::of(blob.get())}));
  EXPECT_EQ(blob->count, 2u);
}

TEST(Context, InitializersRunOnceInTheOrderOfTheModules) {
  const Ref<BytecodeModule> first = load_text(R"(
module @first
global @count : i32
initializer @init
func @init() {
  const.i32 %v0, 7
  global.set %v0, @count
  return
}
export func @take() -> i32 {
  global.get %v0, @count
  add.imm.i32 %v1, %v0, 1
  global.set %v1, @count
  return
})");
  const Ref<BytecodeModule> second = load_text(R"(
module @second
import @first.take() -> i32
global @seen : i32
initializer @init
func @init() {
  call.import @first.take, %v0, %r0
  global.set %v0, @seen
  return
}
export func @seen() -> i32 {
  global.get %v0, @seen
  return
})");
  const Ref<Context> context = testing::make_context({first, second});
  EXPECT_EQ(testing::call_i32(context, "seen"), 7);
  EXPECT_EQ(testing::call_i32(context, "first.take"), 8);
}

TEST(Context, AFailedInitializerSaysWhose) {
  const Ref<testing::NativeTestModule> native = make_native_module();
  const auto context = Context::make(testing::expect_ok(testing::link({native, load_text(R"(
module @late
rodata @why = "not today"
initializer @init
func @init() {
  fail unavailable, @why
})")})));
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().to_string(),
            "UNAVAILABLE; not today\n  at late.init, word 0\n  while initializing module 'late'");
  EXPECT_EQ(native->states, 0) << "the states that were made are gone";
}

TEST(Context, AnInitializerThatNeverEndsMeetsItsLimit) {
  const Ref<Program> program = testing::expect_ok(testing::link({load_text(R"(
initializer @init
func @init() {
again:
  br again
})")}));
  const auto by_count = Context::make(program, system_allocator(), {.instructions = 1000});
  ASSERT_FALSE(by_count);
  EXPECT_EQ(by_count.error().code(), StatusCode::kResourceExhausted);
  const auto by_clock = Context::make(program, system_allocator(), {.deadline_ns = monotonic_clock_ns() + 1'000'000});
  ASSERT_FALSE(by_clock);
  EXPECT_EQ(by_clock.error().code(), StatusCode::kDeadlineExceeded);
}

TEST(Context, MakesAndDestroysTheStatesOfNativeModules) {
  const auto native = make_native_module();
  native->add("states", "v_i", [](NativeCall* call) -> Status::Failure* {
    call->values[0] = Value::of(int32_t{*static_cast<int*>(call->state)});
    return nullptr;
  });
  Ref<Context> context = testing::make_context({native});
  EXPECT_EQ(testing::call_i32(context, "states"), 1) << "a call gets the state of its context";
  context = nullptr;
  EXPECT_EQ(native->states, 0);
}

TEST(Context, AFailedStateSaysWhoseAndUndoesTheOthers) {
  const auto good = make_native_module();
  const auto bad = make_ref<testing::NativeTestModule>("gpu");
  bad->state_fails = true;
  const auto context = Context::make(testing::expect_ok(testing::link({good, bad})));
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().to_string(),
            "UNAVAILABLE; there is no such device\n  while making the state of module 'gpu'");
  EXPECT_EQ(good->states, 0);
}

}  // namespace
}  // namespace baton::vm
