// Frames and windows: what calls pass, keep, drop and switch. What single instructions compute stands in
// tests/golden/run.
#include "vm/interpreter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using testing::call_i32;
using testing::load_text;
using testing::make_context;
using testing::make_native_module;

TEST(Interpreter, ArgumentsAndResultsStandAtTheBasesOfACall) {
  const Ref<Context> context = make_context(R"(
func @swap(%a: i32, %b: i32) -> (i32, i32) values 7 {
  move %v6, %a
  move %v0, %b
  move %v1, %v6
  return
}
export func @run() -> (i32, i32, i32) {
  const.i32 %v0, 1
  const.i32 %v1, 2
  const.i32 %v2, 3
  call @swap, %v1, %r0
  return
})");
  const std::vector<Value> results = testing::expect_ok(testing::call(context, "run"));
  EXPECT_EQ(results[0].i32, 1) << "below the base nothing changes";
  EXPECT_EQ(results[1].i32, 3);
  EXPECT_EQ(results[2].i32, 2);
}

TEST(Interpreter, FactorialAndFibonacciRecur) {
  const Ref<Context> context = make_context(R"(
export func @fib(%n: i32) -> i32 {
  br.lt.s.imm.i32 %n, 2, small
  add.imm.i32 %v1, %n, -1
  call @fib, %v1, %r0
  add.imm.i32 %v2, %n, -2
  call @fib, %v2, %r0
  add.i32 %v0, %v1, %v2
small:
  return
})");
  EXPECT_EQ(call_i32(context, "fib", {Value::of(int32_t{20})}), 6765);
}

TEST(Interpreter, TailCallsUseOneFrame) {
  const Ref<Context> context = make_context(R"(
export func @sum(%n: i32, %total: i32) -> i32 {
  br.eq.imm.i32 %n, 0, done
  add.i32 %total, %total, %n
  add.imm.i32 %n, %n, -1
  call.tail @sum
done:
  return.value %total
})");
  EXPECT_EQ(call_i32(context, "sum", {Value::of(int32_t{100'000}), Value::of(int32_t{0})}), 705082704);
}

TEST(Interpreter, ATailCallReturnsToTheCallerOfItsCaller) {
  const Ref<Context> context = make_context(R"(
func @last(%a: i32) -> i32 values 5 {
  mul.imm.i32 %v0, %a, 10
  return
}
func @middle(%a: i32, %b: i32) -> i32 {
  add.i32 %v0, %a, %b
  call.tail @last
}
export func @run() -> i32 {
  const.i32 %v0, 4
  const.i32 %v1, 1
  const.i32 %v2, 2
  call @middle, %v1, %r0
  add.i32 %v0, %v0, %v1
  return
})");
  EXPECT_EQ(call_i32(context, "run"), 34);
}

TEST(Interpreter, VariadicCallsPassTheCountsOfTheirSegments) {
  const auto native = make_native_module();
  // Sums the values of both segments, each weighted by its segment.
  native->add("weigh", "iCiDCiiD_i", [](NativeCall* call) -> Status::Failure* {
    int32_t sum = call->values[0].i32;
    size_t next = 1;
    for (int i = 0; i < call->segments[0]; ++i) sum += 10 * call->values[next++].i32;
    for (int i = 0; i < 2 * call->segments[1]; ++i) sum += 100 * call->values[next++].i32;
    call->values[0] = Value::of(sum);
    return nullptr;
  });
  const Ref<Context> context = make_context({native, load_text(R"(
import @native.weigh(i32, (i32)..., (i32, i32)...) -> i32
export func @run() -> i32 {
  const.i32 %v1, 1
  const.i32 %v2, 2
  const.i32 %v3, 3
  const.i32 %v4, 4
  const.i32 %v5, 5
  call.variadic @native.weigh, %v1, %r0, [2, 1]
  return.value %v1
}
export func @none() -> i32 {
  const.i32 %v0, 7
  call.variadic @native.weigh, %v0, %r0, [0, 0]
  return
})")});
  EXPECT_EQ(call_i32(context, "run"), 1 + 10 * (2 + 3) + 100 * (4 + 5));
  EXPECT_EQ(call_i32(context, "none"), 7);
}

// Three modules, each with a global of its own at index 0: state follows the calls and comes back with the returns.
TEST(Interpreter, CallsAcrossModulesSwitchStateAndBack) {
  const Ref<BytecodeModule> low = load_text(R"(
module @low
global @mine : i32 = 1
export func @get() -> i32 {
  global.get %v0, @mine
  return
}
export func @size(%blob: blob) -> i64 {
  blob.size %v0, %blob
  return
})");
  const Ref<BytecodeModule> middle = load_text(R"(
module @middle
import @low.get() -> i32
global @mine : i32 = 10
export func @get() -> i32 {
  call.import @low.get, %v0, %r0
  global.get %v1, @mine
  add.i32 %v0, %v0, %v1
  return
})");
  const Ref<BytecodeModule> high = load_text(R"(
module @high
import @middle.get() -> i32
import @low.size(blob) -> i64
global @mine : i32 = 100
export func @run() -> i32 {
  call.import @middle.get, %v0, %r0
  global.get %v1, @mine
  add.i32 %v0, %v0, %v1
  return
}
export func @blob_size() -> i64 {
  const.i64 %v0, 12
  blob.alloc %r1, %v0
  call.import @low.size, %v0, %r1
  return
})");
  const Ref<Context> context = make_context({low, middle, high});
  EXPECT_EQ(call_i32(context, "run"), 111);
  EXPECT_EQ(testing::expect_ok(testing::call(context, "blob_size"))[0].i64, 12);
}

TEST(Interpreter, AnImportInAFallbackRunsWithTheStateOfTheImporter) {
  const Ref<Context> context = make_context(R"(
import optional @no.where() -> i32 fallback @mine
global @mine : i32 = 6
func @mine() -> i32 {
  global.get %v0, @mine
  return
}
export func @run() -> i32 {
  call.import @no.where, %v0, %r0
  return
})");
  EXPECT_EQ(call_i32(context, "run"), 6);
}

TEST(Interpreter, BranchTablesTakeTheLastLabelBeyondTheirEnd) {
  const Ref<Context> context = make_context(R"(
export func @pick(%index: i32) -> i32 {
  br.table %index, [a, b, c]
a:
  const.i32 %v0, 10
  return
b:
  const.i32 %v0, 20
  return
c:
  const.i32 %v0, 30
  return
})");
  for (const auto& [index, result] : {std::pair{0, 10}, {1, 20}, {2, 30}, {3, 30}, {-1, 30}, {INT32_MIN, 30}}) {
    EXPECT_EQ(call_i32(context, "pick", {Value::of(int32_t{index})}), result) << index;
  }
}

// A product and a sum behind it run as one step, whichever registers they share; counted, they are two.
template <typename T>
void check_products_and_sums(std::string_view type) {
  constexpr int kRegisters = 3, kFunctions = 729;
  std::string source;
  for (int i = 0; i < kFunctions; ++i) {
    const auto at = [i](int divisor) { return i / divisor % kRegisters; };
    source += text("export func @f", i, "(%a: ", type, ", %b: ", type, ", %c: ", type, ") -> (", type, ", ", type, ", ",
                   type, ") {\n  mul.", type, " %v", at(1), ", %v", at(3), ", %v", at(9), "\n  add.", type, " %v",
                   at(27), ", %v", at(81), ", %v", at(243), "\n  return\n}\n");
  }
  const Ref<Context> context = make_context(source);
  Invocation counted(context);
  counted.set_instruction_budget(3 * kFunctions);
  for (int i = 0; i < kFunctions; ++i) {
    const auto at = [i](int divisor) { return i / divisor % kRegisters; };
    const Value a = Value::of(T(0.1)), b = Value::of(T(-3)), c = Value::of(T(7.25));
    T expected[kRegisters] = {a.as<T>(), b.as<T>(), c.as<T>()};
    expected[at(1)] = expected[at(3)] * expected[at(9)];
    expected[at(27)] = expected[at(81)] + expected[at(243)];
    const std::string name = text("f", i);
    const auto plain = testing::expect_ok(testing::call(context, name, {a, b, c}));
    const uint64_t before = counted.instructions();
    const auto also = testing::expect_ok(testing::call(counted, context, name, {a, b, c}));
    EXPECT_EQ(counted.instructions() - before, 3u);
    for (size_t r = 0; r < kRegisters; ++r) {
      EXPECT_EQ(plain[r].as<T>(), expected[r]) << name;
      EXPECT_EQ(plain[r].bits, also[r].bits) << name;
    }
  }
}

TEST(Interpreter, AProductAndItsSumAreWhatTheyAreApart) {
  check_products_and_sums<float>("f32");
  check_products_and_sums<double>("f64");
}

TEST(Interpreter, AJumpGoesBetweenAProductAndItsSum) {
  const Ref<Context> context = make_context(R"(
export func @run(%n: i32) -> f64 {
  const.i32 %v1, 0
  const.f64 %v2, 1.0
  const.f64 %v3, 3.0
  br sum
loop:
  mul.f64 %v2, %v2, %v3
sum:
  add.f64 %v2, %v2, %v3
  next.i32 %v1, %n, loop
  return.value %v2
})");
  EXPECT_EQ(testing::expect_ok(testing::call(context, "run", {Value::of(int32_t{3})}))[0].f64, 48.0);
}

}  // namespace
}  // namespace baton::vm
