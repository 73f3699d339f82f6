// call.lend: references stay in the caller's registers and are counted right whoever is called: a function that leaves
// its arguments alone, one that takes them, bytecode, one that fails, one that waits.
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"
#include "vm/invocation.hpp"

namespace baton::vm {
namespace {

using testing::Counted;
using testing::Gate;

constexpr std::string_view kImports = R"(
import @native.make() -> test.counted
import @native.living() -> i32
import @lender.holders(ref, ref) -> i64
import @lender.steal(ref)
import @lender.replace(ref, ref) -> ref
import @lender.count(i32, (ref)...) -> i32
import @lender.fail(ref, ref)
import @lender.pass(test.gate, ref) -> i32
import @other.second(ref, ref) -> ref
)";

// Owners of both arguments; a null has none.
Status::Failure* count_holders(NativeCall* call) {
  const auto holders = [&](int index) {
    return call->refs[index] ? static_cast<int64_t>(call->refs[index]->count) : 0;
  };
  call->values[0] = Value::of(100 * holders(0) + holders(1));
  return nullptr;
}

Status::Failure* steal(NativeCall* call) {
  release_object(std::exchange(call->refs[0], nullptr));
  return nullptr;
}

Status::Failure* replace_first(NativeCall* call) {
  testing::set_ref(call, 0, new Counted());
  return nullptr;
}

Status::Failure* count_elements(NativeCall* call) {
  call->values[0] = Value::of(call->values[0].i32 + call->segments[0]);
  return nullptr;
}

Status::Failure* fail(NativeCall*) { return failure(StatusCode::kUnavailable, "nobody is there").release(); }

Status::Failure* pass(NativeCall* call) {
  auto* gate = static_cast<Gate*>(call->refs[0]);
  if (gate->is_open) return call->values[0] = Value::of(gate->code.load()), nullptr;
  gate->retain();
  call->pending = gate;
  return nullptr;
}

class Lending : public ::testing::TestWithParam<bool> {
 protected:
  void TearDown() override {
    invocation_.reset();
    context_ = nullptr;
    EXPECT_EQ(Counted::living, 0);
  }

  // The functions say that they leave their arguments, or don't and are lent counted ones.
  void load(std::string_view functions) {
    auto lender = make_ref<testing::NativeTestModule>("lender");
    const auto add = [&](const char* name, const char* signature, NativeBody body) {
      if (GetParam())
        lender->add_leaving(name, signature, body);
      else
        lender->add(name, signature, body);
    };
    add("holders", "rr_I", count_holders);
    lender->add("steal", "r_v", steal);
    add("replace", "rr_r", replace_first);
    add("count", "iCrD_i", count_elements);
    add("fail", "rr_v", fail);
    add("pass", "r<test.gate>r_i", pass);
    const auto other = testing::load_text(R"(
module @other
export func @second(%a: ref, %b: ref) -> ref {
  ref.move %r0, %b
  return
})");
    context_ = testing::make_context(
        {testing::make_native_module(), lender, other, testing::load_text(text(kImports, functions))});
    invocation_.emplace(context_);
  }
  Result<std::vector<Value>> call(std::string_view name, testing::Arguments arguments = {}) {
    return testing::call(*invocation_, context_, name, arguments);
  }

  Ref<Context> context_;
  std::optional<Invocation> invocation_;
};

TEST_P(Lending, CountsOnlyForThoseWhoMayTake) {
  load(R"(
export func @run() -> i64 {
  call.import @native.make, %v0, %r0
  call.lend @lender.holders, %v0, %r1, [%r0, null]
  return
})");
  EXPECT_EQ((*call("run"))[0].i64, GetParam() ? 100 : 200);
}

TEST_P(Lending, WhatIsLentStays) {
  load(R"(
export func @run() -> (i64, i32) {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.lend @lender.holders, %v0, %r2, [%r0, %r1]
  call.lend @lender.holders, %v0, %r2, [%r1, %r1]
  call.lend @lender.holders, %v0, %r2, [%r1, %r0]
  call.import @native.living, %v1, %r2
  return
})");
  const auto results = call("run");
  EXPECT_EQ((*results)[0].i64, GetParam() ? 101 : 202);
  EXPECT_EQ((*results)[1].i32, 2);
}

// Nothing that the window held before is lost or stays.
TEST_P(Lending, ReplacesWhatStoodInTheWindow) {
  load(R"(
export func @run() -> i32 {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r2
  call.lend @lender.holders, %v0, %r1, [%r0, %r0]
  call.import @native.living, %v0, %r3
  return
})");
  EXPECT_EQ((*call("run"))[0].i32, 1);
}

TEST_P(Lending, AFunctionThatTakesGetsItsOwn) {
  load(R"(
export func @run() -> (i64, i32) {
  call.import @native.make, %v0, %r0
  call.lend @lender.steal, %v0, %r1, [%r0]
  call.lend @lender.holders, %v0, %r1, [%r0, null]
  call.import @native.living, %v1, %r1
  return
})");
  const auto results = call("run");
  EXPECT_EQ((*results)[0].i64, GetParam() ? 100 : 200);
  EXPECT_EQ((*results)[1].i32, 1);
}

TEST_P(Lending, ResultsStandAtTheBase) {
  load(R"(
export func @run() -> (i64, i32) {
  call.import @native.make, %v0, %r0
  call.lend @lender.replace, %v0, %r1, [%r0, %r0]
  call.lend @lender.holders, %v0, %r2, [%r0, %r1]
  call.import @native.living, %v1, %r2
  return
})");
  const auto results = call("run");
  EXPECT_EQ((*results)[0].i64, GetParam() ? 101 : 202);
  EXPECT_EQ((*results)[1].i32, 2);
}

TEST_P(Lending, SegmentsStandBeforeTheRegisters) {
  load(R"(
export func @run() -> (i32, i32) {
  call.import @native.make, %v0, %r0
  const.i32 %v2, 40
  call.lend @lender.count, %v2, %r1, [3, %r0, null, %r0]
  move %v0, %v2
  const.i32 %v2, 7
  call.lend @lender.count, %v2, %r1, [0]
  move %v1, %v2
  return
})");
  const auto results = call("run");
  EXPECT_EQ((*results)[0].i32, 43);
  EXPECT_EQ((*results)[1].i32, 7);
}

TEST_P(Lending, BytecodeReleasesItsOwn) {
  load(R"(
export func @run() -> (i64, i32) {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.lend @other.second, %v0, %r2, [%r0, %r1]
  call.lend @lender.holders, %v0, %r3, [%r0, %r2]
  call.import @native.living, %v1, %r3
  return
})");
  const auto results = call("run");
  EXPECT_EQ((*results)[0].i64, GetParam() ? 102 : 203);
  EXPECT_EQ((*results)[1].i32, 2);
}

TEST_P(Lending, AFailureLeavesNothingBehind) {
  load(R"(
export func @run() {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.lend @lender.fail, %v0, %r2, [%r1, %r0]
  return
})");
  EXPECT_EQ(call("run").error().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Counted::living, 0);
}

TEST_P(Lending, AWaitOwnsWhatItWasLent) {
  load(R"(
export func @run(%gate: test.gate) -> i32 {
  call.import @native.make, %v0, %r1
  call.lend @lender.pass, %v0, %r2, [%gate, %r1]
  call.import @native.living, %v1, %r2
  add.i32 %v0, %v0, %v1
  return
})");
  const Ref<Gate> gate = make_ref<Gate>();
  const ExportedFunction function = testing::expect_ok(context_->find_function("run"));
  const Value argument = Value::of(static_cast<Object*>(gate.get()));
  ASSERT_EQ(testing::expect_ok(invocation_->begin_slots(function, {&argument, 1})), Invocation::Outcome::kSuspended);
  gate->open(20);
  ASSERT_EQ(testing::expect_ok(invocation_->resume()), Invocation::Outcome::kDone);
  Value result;
  EXPECT_TRUE(invocation_->take_results({&result, 1}).ok());
  EXPECT_EQ(result.i32, 21);
}

TEST_P(Lending, AnAbandonedWaitGivesEverythingBack) {
  load(R"(
export func @run(%gate: test.gate) -> i32 {
  call.import @native.make, %v0, %r1
  call.lend @lender.pass, %v0, %r2, [%gate, %r1]
  return
})");
  const Ref<Gate> gate = make_ref<Gate>();
  const ExportedFunction function = testing::expect_ok(context_->find_function("run"));
  const Value argument = Value::of(static_cast<Object*>(gate.get()));
  ASSERT_EQ(testing::expect_ok(invocation_->begin_slots(function, {&argument, 1})), Invocation::Outcome::kSuspended);
  invocation_->abandon();
  EXPECT_EQ(Counted::living, 0);
  EXPECT_EQ(gate->count, 1);
}

INSTANTIATE_TEST_SUITE_P(Functions, Lending, ::testing::Bool(),
                         [](const auto& leaves) { return leaves.param ? "leave" : "may_take"; });

}  // namespace
}  // namespace baton::vm
