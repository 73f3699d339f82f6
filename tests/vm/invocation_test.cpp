// What a host may ask of an invocation: checked calls, native exports, limits, cancellation.
#include "vm/invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProgram = R"(
import @host.entered()
export func @add(%a: i32, %b: i32) -> i32 {
  add.i32 %v0, %a, %b
  return
}
export func @spin() {
  call.import @host.entered, %v0, %r0
again:
  br again
}
export func @asks(%a: i32) -> i32 {
  mul.imm.i32 %v1, %a, 100
  call.import @host.entered, %v2, %r0
  yield
  add.i32 %v0, %v0, %v1
  return
}
export func @later(%a: i32) -> i32 {
  yield
  add.imm.i32 %v0, %a, 1
  yield
  return
}
export func @three() {
  nop
  nop
  return
}
export func @mixed(%a: i32, %r: ref, %b: f64, %s: ref) -> (ref, f64, ref, i32) {
  ref.move %r2, %r
  ref.move %r0, %s
  ref.move %r1, %r2
  move %v2, %a
  move %v0, %b
  move %v1, %v2
  return
}
export func @recur(%n: i32) -> i32 {
  br.le.s.imm.i32 %n, 1, done
  add.imm.i32 %v1, %n, -1
  call @recur, %v1, %r0
  move %v0, %v1
done:
  return
}
export func @recur_values() values 100 {
  call @recur_values, %v100, %r0
  return
}
export func @recur_refs() refs 100 {
  call @recur_refs, %v0, %r100
  return
}
export func @wide() values 60000 refs 5000 {
  return
})";

// Tells the test that a call has begun, from within it: however busy the machine is.
Ref<testing::NativeTestModule> make_host_module(std::function<void()>* entered) {
  auto module = make_ref<testing::NativeTestModule>("host");
  module->add(
      "entered", "v_v",
      [](NativeCall* call) -> Status::Failure* {
        if (const auto& function = *static_cast<std::function<void()>*>(call->data)) function();
        return nullptr;
      },
      entered);
  return module;
}

class InvocationTest : public ::testing::Test {
 protected:
  std::function<void()> entered_;
  Ref<Context> context_ =
      testing::make_context({testing::make_native_module(), make_host_module(&entered_), testing::load_text(kProgram)});
  Invocation invocation_{context_};

  Result<std::vector<Value>> call(std::string_view name, testing::Arguments arguments = {}) {
    return testing::call(invocation_, context_, name, arguments);
  }
};

TEST_F(InvocationTest, ChecksTheCountsOfArgumentsAndResults) {
  EXPECT_EQ(call("add", {Value()}).error().to_string(),
            "INVALID_ARGUMENT; function 'add' takes (i32, i32) -> (i32); 1 arguments were given");
  const ExportedFunction add = testing::expect_ok(context_->find_function("add"));
  const Value arguments[2] = {};
  EXPECT_EQ(invocation_.invoke_slots(add, arguments, {}).to_string(),
            "INVALID_ARGUMENT; function 'add' has 1 results, but room is given for 0");
}

// A native function that calls back into the program on the invocation that runs it would write over its registers.
TEST_F(InvocationTest, WhileItRunsItTakesNoOtherCall) {
  std::vector<std::string> said;
  const auto ask = [&] {
    const ExportedFunction three = testing::expect_ok(context_->find_function("three"));
    said = {invocation_.invoke_slots(three, {}, {}).to_string(), invocation_.invoke(three, {}, {}).to_string(),
            invocation_.begin_slots(three, {}).error().to_string(), invocation_.resume().error().to_string(),
            invocation_.take_results({}).to_string()};
    invocation_.abandon();  // There is nothing that waits.
  };
  const auto expect_refusals = [&](const char* function) {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(said[i], text("FAILED_PRECONDITION; a call of this invocation is running, function '", function,
                              "': what it calls makes an invocation of its own to call more"));
    }
    EXPECT_EQ(said[4], "FAILED_PRECONDITION; no call of this invocation has finished");
  };
  entered_ = ask;
  EXPECT_EQ(testing::expect_ok(call("asks", {Value::of(int32_t{7})}))[0].i32, 707);
  expect_refusals("asks");
  testing::expect_ok(call("host.entered"));
  expect_refusals("entered");
  // By way of another invocation, which may call what it likes.
  entered_ = [&] {
    Invocation other(context_);
    entered_ = ask;
    EXPECT_EQ(testing::expect_ok(testing::call(other, context_, "asks", {Value::of(int32_t{3})}))[0].i32, 303);
  };
  EXPECT_EQ(testing::expect_ok(call("asks", {Value::of(int32_t{5})}))[0].i32, 505);
  expect_refusals("asks");
}

// However a call ends, the next one begins.
TEST_F(InvocationTest, ACallThatEndedRefusesNoOther) {
  const auto expect_three = [&] { testing::expect_ok(call("three")); };
  entered_ = [this] { invocation_.cancel(); };
  EXPECT_EQ(call("spin").error().code(), StatusCode::kCancelled);
  invocation_.clear_cancel();
  entered_ = nullptr;
  expect_three();
  EXPECT_EQ(call("add", {Value()}).error().code(), StatusCode::kInvalidArgument);
  expect_three();
  EXPECT_EQ(call("native.fail", {Value()}).error().code(), StatusCode::kUnavailable);
  expect_three();
  EXPECT_EQ(call("recur", {Value::of(int32_t{1'000'000})}).error().code(), StatusCode::kResourceExhausted);
  expect_three();
  EXPECT_EQ(testing::expect_ok(call("later", {Value::of(int32_t{1})}))[0].i32, 2);
  expect_three();
}

// The storage is as another use left it: references in it must not be taken for live ones.
TEST_F(InvocationTest, RunsInStorageOfTheCaller) {
  const InvocationOptions options{.stack_values = 64, .stack_refs = 8, .stack_frames = 4};
  std::vector<uint64_t> storage(Invocation::storage_bytes(options) / sizeof(uint64_t), 0xa5a5a5a5a5a5a5a5);
  for (int use = 0; use < 2; ++use) {
    Invocation invocation(context_, std::as_writable_bytes(std::span(storage)), options);
    EXPECT_EQ(testing::expect_ok(testing::call(invocation, context_, "add", {Value::of(2), Value::of(3)}))[0].i32, 5);
  }
}

TEST_F(InvocationTest, MixesValuesAndReferencesInSignatureOrder) {
  const Ref<Blob> r = Blob::make(1);
  const Ref<Blob> s = Blob::make(2);
  const std::vector<Value> results = testing::expect_ok(
      call("mixed", {Value::of(int32_t{3}), Value::of(r.get()), Value::of(2.5), Value::of(s.get())}));
  EXPECT_EQ(results[0].ref, s.get());
  EXPECT_EQ(results[1].f64, 2.5);
  EXPECT_EQ(results[2].ref, r.get());
  EXPECT_EQ(results[3].i32, 3);
  release_object(results[0].ref);
  release_object(results[2].ref);
}

// What is the same for each call of a function is asked once.
TEST_F(InvocationTest, RunsInPlaceBetweenRegistersOfTheCaller) {
  const ExportedFunction mixed = testing::expect_ok(context_->find_function("mixed"));
  ASSERT_TRUE(invocation_.runs_in_place(mixed));
  const Invocation::FirstRegisters first = invocation_.first_registers();
  const Ref<Blob> r = Blob::make(1);
  const Ref<Blob> s = Blob::make(2);
  for (int turn = 0; turn < 3; ++turn) {
    first.values[0] = Value::of(turn);
    first.values[1] = Value::of(0.5);
    first.refs[0] = Ref<Blob>(r).detach();
    first.refs[1] = Ref<Blob>(s).detach();
    EXPECT_OK(invocation_.run_in_place(mixed));
    EXPECT_EQ(first.values[0].f64, 0.5);
    EXPECT_EQ(first.values[1].i32, turn);
    EXPECT_EQ(Ref<Object>::adopt(std::exchange(first.refs[0], nullptr)).get(), s.get());
    EXPECT_EQ(Ref<Object>::adopt(std::exchange(first.refs[1], nullptr)).get(), r.get());
    EXPECT_OK(call("add", {Value::of(1), Value::of(2)}));  // The other way between.
    first.values[0] = Value::of(turn);
    EXPECT_OK(invocation_.run_in_place(testing::expect_ok(context_->find_function("later"))));
    EXPECT_EQ(first.values[0].i32, turn + 1);
  }
  EXPECT_TRUE(count_is_one(r->count) && count_is_one(s->count));
  EXPECT_FALSE(invocation_.runs_in_place(testing::expect_ok(context_->find_function("wide"))));
  EXPECT_FALSE(invocation_.runs_in_place(testing::expect_ok(context_->find_function("host.entered"))));
}

TEST_F(InvocationTest, WhatFailsInPlaceLeavesNothingBehind) {
  const ExportedFunction mixed = testing::expect_ok(context_->find_function("mixed"));
  const Invocation::FirstRegisters first = invocation_.first_registers();
  const Ref<Blob> r = Blob::make(1);
  invocation_.cancel();
  first.refs[0] = Ref<Blob>(r).detach();
  EXPECT_FAILS(invocation_.run_in_place(mixed), StatusCode::kCancelled, "");
  EXPECT_EQ(first.refs[0], nullptr);
  EXPECT_TRUE(count_is_one(r->count));
  invocation_.clear_cancel();
  const ExportedFunction spin = testing::expect_ok(context_->find_function("spin"));
  entered_ = [this] { invocation_.set_deadline(monotonic_clock_ns() + 1'000'000); };
  EXPECT_EQ(invocation_.run_in_place(spin).to_string(),
            "DEADLINE_EXCEEDED; deadline has passed\n  at test.spin, word 1");
  invocation_.set_deadline(0);
  EXPECT_OK(call("add", {Value::of(1), Value::of(2)}));
}

TEST_F(InvocationTest, CallsNativeExportsWithoutBytecode) {
  EXPECT_EQ(testing::expect_ok(call("native.add", {Value::of(int32_t{40}), Value::of(int32_t{2})}))[0].i32, 42);
  const Ref<testing::Counted> object = make_ref<testing::Counted>();
  const auto failed = call("native.fail", {Value::of(object.get())});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(), "UNAVAILABLE; the printer is on fire");
  EXPECT_EQ(object->count, 1u);
  const std::vector<Value> made = testing::expect_ok(call("native.make"));
  EXPECT_EQ(testing::Counted::living, 2);
  release_object(made[0].ref);
}

TEST_F(InvocationTest, RefusesToCallAVariadicExport) {
  const auto result = call("native.count", {Value()});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().to_string(), HasSubstr("takes (i32, (ref)...) -> (i32); 1 arguments were given"));
}

TEST_F(InvocationTest, ABudgetOfExactlyTheCallIsEnough) {
  invocation_.set_instruction_budget(3);
  testing::expect_ok(call("three"));
  EXPECT_EQ(invocation_.instructions(), 3u);
  EXPECT_EQ(call("three").error().to_string(),
            "RESOURCE_EXHAUSTED; instruction budget is exhausted (3)\n  at test.three, word 0")
      << "one budget for all calls";
  invocation_.set_instruction_budget(2);
  EXPECT_THAT(call("three").error().to_string(), HasSubstr("at test.three, word 2"));
  invocation_.set_instruction_budget(0);
  testing::expect_ok(call("three"));
}

TEST_F(InvocationTest, ABudgetEndsALoop) {
  invocation_.set_instruction_budget(10'000);
  EXPECT_EQ(call("spin").error().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(invocation_.instructions(), 10'000u);
}

TEST_F(InvocationTest, ADeadlineEndsALoopAndKeepsLaterCallsFromBeginning) {
  // Set from within: the call has begun whenever the millisecond is over.
  entered_ = [this] { invocation_.set_deadline(monotonic_clock_ns() + 1'000'000); };
  EXPECT_EQ(call("spin").error().to_string(), "DEADLINE_EXCEEDED; deadline has passed\n  at test.spin, word 1");
  EXPECT_EQ(call("three").error().code(), StatusCode::kDeadlineExceeded);
  invocation_.set_deadline(0);
  testing::expect_ok(call("three"));
}

TEST_F(InvocationTest, AnotherThreadCancelsALoopAndTheCancellationStays) {
  std::atomic<bool> begun{false};
  entered_ = [&] {
    begun = true;
    begun.notify_one();
  };
  std::jthread canceller([&] {
    begun.wait(false);
    invocation_.cancel();
  });
  EXPECT_EQ(call("spin").error().to_string(), "CANCELLED; invocation was cancelled\n  at test.spin, word 1");
  EXPECT_EQ(call("add", {Value(), Value()}).error().to_string(), "CANCELLED; invocation was cancelled");
  EXPECT_EQ(call("native.add", {Value(), Value()}).error().code(), StatusCode::kCancelled);
  canceller.join();
  invocation_.clear_cancel();
  testing::expect_ok(call("add", {Value(), Value()}));
}

TEST_F(InvocationTest, EachBankOfTheStackHasItsLimit) {
  const Value many = Value::of(int32_t{1'000'000});
  EXPECT_THAT(call("recur", {many}).error().to_string(), HasSubstr("call stack is full (2048 frames)"));
  EXPECT_THAT(call("recur_values").error().to_string(), HasSubstr("call stack is full (163 frames)"));
  EXPECT_THAT(call("recur_refs").error().to_string(), HasSubstr("call stack is full (40 frames)"));
  EXPECT_EQ(testing::expect_ok(call("recur", {Value::of(int32_t{2048})}))[0].i32, 1) << "and is whole again";
}

TEST_F(InvocationTest, OptionsSizeTheStack) {
  Invocation deep(context_, {.stack_values = 1'000'000, .stack_refs = 0, .stack_frames = 500'000});
  EXPECT_EQ(testing::expect_ok(testing::call(deep, context_, "recur", {Value::of(int32_t{400'000})}))[0].i32, 1);
}

TEST_F(InvocationTest, AFunctionLargerThanTheStackDoesNotBegin) {
  EXPECT_EQ(call("wide").error().to_string(),
            "RESOURCE_EXHAUSTED; function 'wide' needs 60000 value and 5000 reference registers and a frame, but the "
            "invocation's stack has 16384, 4096 and 2048");
  for (const InvocationOptions& options : {InvocationOptions{.stack_values = 0, .stack_refs = 0, .stack_frames = 1},
                                           InvocationOptions{.stack_values = 9, .stack_refs = 9, .stack_frames = 0}}) {
    Invocation tiny(context_, options);
    EXPECT_EQ(testing::call(tiny, context_, "add", {Value(), Value()}).error().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(testing::call(tiny, context_, "native.make").error().code(), StatusCode::kResourceExhausted);
  }
}

TEST_F(InvocationTest, InvocationsOfOneContextRunOnSeveralThreads) {
  std::vector<std::jthread> threads;
  for (int32_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      Invocation invocation(context_);
      for (int32_t i = 0; i < 200; ++i) {
        EXPECT_EQ(testing::expect_ok(testing::call(invocation, context_, "add", {Value::of(t), Value::of(i)}))[0].i32,
                  t + i);
      }
    });
  }
}

}  // namespace
}  // namespace baton::vm
