// Calls that come back before they are done: yield, await, imports and exports that wait; resumed, abandoned,
// interleaved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"
#include "vm/invocation.hpp"

namespace baton::vm {
namespace {

using testing::Gate;
using ::testing::HasSubstr;
using Outcome = Invocation::Outcome;

constexpr std::string_view kProgram = R"(
import @native.pass(test.gate, ref) -> i32
export func @twice(%n: i32) -> i32 {
  yield
  add.imm.i32 %n, %n, 1
  yield
  add.imm.i32 %n, %n, 1
  return
}
export func @await(%gate: test.gate) -> i32 {
  await %v0, %gate
  return
}
export func @pass(%gate: test.gate) -> i32 {
  ref.null %r1
  call.import @native.pass, %v0, %r0
  add.imm.i32 %v0, %v0, 1
  return
}
export func @yield_forever() {
again:
  yield
  br again
})";

class SuspensionTest : public ::testing::Test {
 protected:
  Ref<Context> context_ = testing::make_context({testing::make_native_module(), testing::load_text(kProgram)});
  Invocation invocation_{context_};
  Ref<Gate> gate_ = make_ref<Gate>();

  Outcome begin(Invocation& invocation, std::string_view name, Value argument) {
    return testing::expect_ok(
        invocation.begin_slots(testing::expect_ok(context_->find_function(name)), {&argument, 1}));
  }
  Outcome begin(std::string_view name) { return begin(invocation_, name, Value::of(gate_.get())); }
  Outcome resume() { return testing::expect_ok(invocation_.resume()); }
  int32_t take(Invocation& invocation) {
    Value result;
    testing::expect_ok(invocation.take_results({&result, 1}));
    return result.i32;
  }
};

TEST_F(SuspensionTest, YieldComesBackAndGoesOn) {
  ASSERT_EQ(begin(invocation_, "twice", Value::of(int32_t{5})), Outcome::kSuspended);
  EXPECT_EQ(invocation_.waiting_on(), nullptr);
  ASSERT_EQ(resume(), Outcome::kSuspended);
  ASSERT_EQ(resume(), Outcome::kDone);
  EXPECT_EQ(take(invocation_), 7);
}

TEST_F(SuspensionTest, InvokeGoesThroughYields) {
  EXPECT_EQ(testing::call_i32(context_, "twice", {Value::of(int32_t{5})}), 7);
}

TEST_F(SuspensionTest, WhatWaitsIsResumedWhenItIsReadyAndNotBefore) {
  for (const char* name : {"await", "pass", "native.pass"}) {
    gate_ = make_ref<Gate>();
    const Value arguments[] = {Value::of(gate_.get()), Value()};
    const ExportedFunction function = testing::expect_ok(context_->find_function(name));
    ASSERT_EQ(testing::expect_ok(invocation_.begin_slots(function, {arguments, function.shape.argument_refs})),
              Outcome::kSuspended);
    EXPECT_EQ(invocation_.waiting_on(), gate_.get());
    EXPECT_EQ(resume(), Outcome::kSuspended) << name << " is not ready";
    EXPECT_EQ(invocation_.waiting_on(), gate_.get());
    gate_->open(8);
    ASSERT_EQ(resume(), Outcome::kDone) << name;
    EXPECT_EQ(take(invocation_), std::string_view(name) == "pass" ? 9 : 8);
    EXPECT_EQ(gate_->count, 1u) << name;
  }
}

TEST_F(SuspensionTest, AwaitDoesNotSuspendForWhatIsReady) {
  gate_->open(static_cast<int32_t>(StatusCode::kAborted));
  ASSERT_EQ(begin("await"), Outcome::kDone);
  EXPECT_EQ(take(invocation_), static_cast<int32_t>(StatusCode::kAborted));
}

TEST_F(SuspensionTest, InvokeBlocksUntilAnotherThreadOpensTheGate) {
  for (const char* name : {"await", "pass"}) {
    gate_ = make_ref<Gate>();
    std::jthread opener([gate = gate_.get()] {
      while (gate->waits < 3) std::this_thread::yield();
      gate->open(20);
    });
    EXPECT_GE(testing::call_i32(context_, name, {Value::of(gate_.get())}), 20);
  }
}

TEST_F(SuspensionTest, SeveralInvocationsAreInFlightInOneContext) {
  Invocation others[3] = {Invocation(context_), Invocation(context_), Invocation(context_)};
  for (int32_t i = 0; i < 3; ++i) ASSERT_EQ(begin(others[i], "twice", Value::of(10 * i)), Outcome::kSuspended);
  ASSERT_EQ(begin("pass"), Outcome::kSuspended);
  for (Invocation& other : others) ASSERT_EQ(testing::expect_ok(other.resume()), Outcome::kSuspended);
  for (int32_t i = 2; i >= 0; --i) {
    ASSERT_EQ(testing::expect_ok(others[i].resume()), Outcome::kDone);
    EXPECT_EQ(take(others[i]), 10 * i + 2);
  }
  gate_->open(1);
  ASSERT_EQ(resume(), Outcome::kDone);
  EXPECT_EQ(take(invocation_), 2);
}

TEST_F(SuspensionTest, AnAbandonedInvocationServesTheNextCall) {
  ASSERT_EQ(begin("pass"), Outcome::kSuspended);
  invocation_.abandon();
  invocation_.abandon();
  EXPECT_FALSE(invocation_.resume());
  EXPECT_EQ(gate_->count, 1u);
  EXPECT_EQ(testing::expect_ok(testing::call(invocation_, context_, "twice", {Value::of(int32_t{1})}))[0].i32, 3);
}

TEST_F(SuspensionTest, WhatIsOutOfOrderIsRefused) {
  const ExportedFunction twice = testing::expect_ok(context_->find_function("twice"));
  Value slot = Value::of(int32_t{0});
  EXPECT_EQ(invocation_.resume().error().to_string(), "FAILED_PRECONDITION; no call of this invocation is suspended");
  EXPECT_EQ(invocation_.take_results({&slot, 1}).to_string(),
            "FAILED_PRECONDITION; no call of this invocation has finished");
  ASSERT_EQ(begin(invocation_, "twice", slot), Outcome::kSuspended);
  EXPECT_EQ(invocation_.begin_slots(twice, {&slot, 1}).error().to_string(),
            "FAILED_PRECONDITION; a call of this invocation is still suspended");
  EXPECT_FALSE(invocation_.take_results({&slot, 1}).ok());
  while (resume() != Outcome::kDone) {
  }
  EXPECT_EQ(invocation_.take_results({}).to_string(),
            "INVALID_ARGUMENT; function 'twice' has 1 results, but room is given for 0");
  EXPECT_EQ(take(invocation_), 2);
  EXPECT_FALSE(invocation_.take_results({&slot, 1}).ok()) << "results are taken once";
}

TEST_F(SuspensionTest, CancellingReachesAWaitAndALoopOfYields) {
  for (const char* name : {"await", "pass"}) {
    gate_ = make_ref<Gate>();
    std::jthread canceller([&, gate = gate_.get()] {
      while (gate->waits < 2) std::this_thread::yield();
      invocation_.cancel();
    });
    const auto result = testing::call(invocation_, context_, name, {Value::of(gate_.get())});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().to_string(),
                HasSubstr(text("CANCELLED; invocation was cancelled\n  at test.", name, ", word ")));
    canceller.join();
    invocation_.clear_cancel();
  }
  std::jthread canceller([&] { invocation_.cancel(); });
  EXPECT_EQ(testing::call(invocation_, context_, "yield_forever").error().code(), StatusCode::kCancelled);
}

TEST_F(SuspensionTest, ADeadlineReachesAWaitAndALoopOfYields) {
  invocation_.set_deadline(monotonic_clock_ns() + 2'000'000);
  const auto waiting = testing::call(invocation_, context_, "await", {Value::of(gate_.get())});
  EXPECT_EQ(waiting.error().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(waiting.error().to_string().ends_with("while it was suspended")) << waiting.error().to_string();
  invocation_.set_deadline(monotonic_clock_ns() + 2'000'000);
  EXPECT_EQ(testing::call(invocation_, context_, "yield_forever").error().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SuspensionTest, ANativeExportThatWaitsForTheHostCanBeCancelled) {
  std::jthread canceller([&, gate = gate_.get()] {
    while (gate->waits < 2) std::this_thread::yield();
    invocation_.cancel();
  });
  const auto result = testing::call(invocation_, context_, "native.pass", {Value::of(gate_.get()), Value()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(), "CANCELLED; invocation was cancelled\n  while 'pass' waited");
  EXPECT_EQ(gate_->count, 1u);
}

TEST_F(SuspensionTest, ResumingACancelledCallEndsIt) {
  ASSERT_EQ(begin("pass"), Outcome::kSuspended);
  invocation_.cancel();
  const auto resumed = invocation_.resume();
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code(), StatusCode::kCancelled);
  EXPECT_EQ(gate_->count, 1u);
}

}  // namespace
}  // namespace baton::vm
