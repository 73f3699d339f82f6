// No path leaks a reference or releases one twice: every object is a Counted, and none may live when a test ends.
#include <gmock/gmock.h>
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
import @native.take(ref, ref)
import @native.same(ref, ref) -> ref
import @native.count(i32, (ref)...) -> i32
import @native.fail(ref)
import @native.confused() -> test.counted
import @native.pass(test.gate, ref) -> i32
import @native.pass_all(test.gate, (ref)...) -> i32
)";

class References : public ::testing::Test {
 protected:
  void TearDown() override {
    invocation_.reset();
    context_ = nullptr;
    EXPECT_EQ(Counted::living, 0);
  }

  Invocation& load(std::string_view functions, const InvocationOptions& options = {}) {
    context_ = testing::make_context({testing::make_native_module(), testing::load_text(text(kImports, functions))});
    return invocation_.emplace(context_, options);
  }
  Result<std::vector<Value>> call(std::string_view name, testing::Arguments arguments = {}) {
    return testing::call(*invocation_, context_, name, arguments);
  }
  Invocation::Outcome begin(std::string_view name, testing::Arguments arguments = {}) {
    const ExportedFunction function = testing::expect_ok(context_->find_function(name));
    return testing::expect_ok(invocation_->begin_slots(function, {arguments.begin(), arguments.size()}));
  }

  Ref<Context> context_;
  std::optional<Invocation> invocation_;
};

TEST_F(References, AReturnReleasesAllButTheResults) {
  load(R"(
func @inner() -> test.counted {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.import @native.make, %v0, %r2
  return
}
export func @run() -> (i32, test.counted) {
  call @inner, %v0, %r0
  call.import @native.living, %v0, %r1
  return
})");
  const std::vector<Value> results = testing::expect_ok(call("run"));
  EXPECT_EQ(results[0].i32, 1);
  EXPECT_EQ(Counted::living, 1) << "the caller owns the result";
  release_object(results[1].ref);
}

TEST_F(References, OverwrittenRegistersAreReleased) {
  load(R"(
export func @run() -> i32 {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  ref.copy %r0, %r1
  ref.copy %r0, %r0
  ref.move %r1, %r0
  call.import @native.living, %v0, %r2
  return
})");
  EXPECT_EQ(testing::expect_ok(call("run"))[0].i32, 1);
}

TEST_F(References, ANativeCallConsumesItsArguments) {
  load(R"(
export func @run() -> i32 {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.import @native.take, %v0, %r0
  call.import @native.living, %v0, %r0
  return
}
export func @keeps_result() -> i32 {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.import @native.same, %v0, %r0
  call.import @native.living, %v0, %r1
  return
}
export func @variadic() -> (i32, i32) {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  ref.copy %r2, %r0
  const.i32 %v0, 40
  call.variadic @native.count, %v0, %r0, [3]
  call.import @native.living, %v1, %r0
  return
})");
  EXPECT_EQ(testing::expect_ok(call("run"))[0].i32, 0);
  EXPECT_EQ(testing::expect_ok(call("keeps_result"))[0].i32, 1);
  const std::vector<Value> results = testing::expect_ok(call("variadic"));
  EXPECT_EQ(results[0].i32, 43);
  EXPECT_EQ(results[1].i32, 0);
}

TEST_F(References, ATrapInNestedFramesReleasesAll) {
  load(R"(
func @inner(%a: ref) {
  call.import @native.make, %v0, %r1
  call.import @native.fail, %v0, %r1
  return
}
func @middle() {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call @inner, %v0, %r1
  return
}
export func @run() {
  call.import @native.make, %v0, %r0
  call @middle, %v0, %r1
  return
})");
  EXPECT_FALSE(call("run"));
  EXPECT_EQ(Counted::living, 0);
}

// The callee's window ends before its caller's registers do.
TEST_F(References, ATrapInASmallFrameReleasesWhatItsCallersHeldBeyondIt) {
  load(R"(
rodata @why = "why"
func @inner() {
  fail aborted, @why
}
func @middle() {
  call.import @native.make, %v0, %r9
  call @inner, %v0, %r0
  return
}
export func @run() {
  call.import @native.make, %v0, %r3
  call @middle, %v0, %r0
  return
})");
  EXPECT_FALSE(call("run"));
  EXPECT_EQ(Counted::living, 0);
}

TEST_F(References, ATailCallReleasesWhatItDoesNotPass) {
  load(R"(
func @last(%a: ref) -> i32 {
  call.import @native.living, %v0, %r1
  return
}
export func @run() -> i32 values 1 refs 8 {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  call.import @native.make, %v0, %r7
  call.tail @last
})");
  EXPECT_EQ(testing::expect_ok(call("run"))[0].i32, 1);
}

TEST_F(References, ArgumentsOfTheHostAreBorrowed) {
  load(R"(
export func @drop(%a: ref, %n: i32, %b: ref) {
  return
}
export func @give(%a: ref) -> ref {
  return
})");
  const Ref<Counted> object = make_ref<Counted>();
  testing::expect_ok(call("drop", {Value::of(object.get()), Value::of(int32_t{1}), Value::of(object.get())}));
  EXPECT_EQ(object->count, 1u);
  const Ref<Object> given = Ref<Object>::adopt(testing::expect_ok(call("give", {Value::of(object.get())}))[0].ref);
  EXPECT_EQ(object->count, 2u);
}

constexpr std::string_view kMake = R"(
export func @make() -> test.counted {
  call.import @native.make, %v0, %r0
  call.import @native.make, %v0, %r1
  return
})";

TEST_F(References, ResultsThatNobodyTakesDieWithTheNextCall) {
  load(kMake);
  ASSERT_EQ(begin("make"), Invocation::Outcome::kDone);
  EXPECT_EQ(Counted::living, 1);
  ASSERT_EQ(begin("make"), Invocation::Outcome::kDone);
  EXPECT_EQ(Counted::living, 1);
}

TEST_F(References, ResultsThatNobodyTakesDieWithTheInvocation) {
  load(kMake);
  ASSERT_EQ(begin("make"), Invocation::Outcome::kDone);
  invocation_.reset();
  EXPECT_EQ(Counted::living, 0);
}

TEST_F(References, ACallThatCannotBeginReleasesWhatTheLastOneLeft) {
  Invocation& invocation = load(kMake);
  ASSERT_EQ(begin("make"), Invocation::Outcome::kDone);
  invocation.cancel();
  EXPECT_FALSE(call("make"));
  EXPECT_EQ(Counted::living, 0);
}

constexpr std::string_view kSuspending = R"(
func @inner(%gate: test.gate) -> i32 {
  call.import @native.make, %v0, %r1
  ref.copy %r2, %gate
  call.import @native.make, %v0, %r3
  call.import @native.pass, %v0, %r2
  call.import @native.living, %v1, %r2
  return.value %v1
}
export func @run(%gate: test.gate) -> i32 {
  call.import @native.make, %v0, %r9
  ref.copy %r1, %gate
  call @inner, %v0, %r1
  return
}
export func @variadic(%gate: test.gate) -> i32 {
  ref.copy %r1, %gate
  call.import @native.make, %v0, %r2
  call.import @native.make, %v0, %r3
  call.variadic @native.pass_all, %v0, %r1, [2]
  call.import @native.living, %v0, %r1
  return
}
export func @awaiting(%gate: test.gate) {
  call.import @native.make, %v0, %r1
  await %v0, %gate
  return
})";

TEST_F(References, AnAbandonedCallReleasesAll) {
  Invocation& invocation = load(kSuspending);
  for (const char* name : {"run", "variadic", "awaiting"}) {
    const Ref<Gate> gate = make_ref<Gate>();
    ASSERT_EQ(begin(name, {Value::of(gate.get())}), Invocation::Outcome::kSuspended) << name;
    EXPECT_EQ(invocation.waiting_on(), gate.get());
    EXPECT_GT(Counted::living, 0);
    invocation.abandon();
    EXPECT_EQ(Counted::living, 0) << name;
    EXPECT_EQ(gate->count, 1u) << name;
  }
}

TEST_F(References, AnInvocationThatEndsSuspendedReleasesAll) {
  load(kSuspending);
  const Ref<Gate> gate = make_ref<Gate>();
  ASSERT_EQ(begin("run", {Value::of(gate.get())}), Invocation::Outcome::kSuspended);
  invocation_.reset();
  EXPECT_EQ(Counted::living, 0);
  EXPECT_EQ(gate->count, 1u);
}

// As many live as when the import had come back at once.
TEST_F(References, AnImportThatResumesConsumesItsArguments) {
  Invocation& invocation = load(kSuspending);
  for (const auto& [name, living] : {std::pair{"run", 2}, {"variadic", 0}}) {
    const Ref<Gate> gate = make_ref<Gate>();
    ASSERT_EQ(begin(name, {Value::of(gate.get())}), Invocation::Outcome::kSuspended);
    gate->open();
    ASSERT_EQ(testing::expect_ok(invocation.resume()), Invocation::Outcome::kDone);
    Value result;
    testing::expect_ok(invocation.take_results({&result, 1}));
    EXPECT_EQ(result.i32, living) << name;
    EXPECT_EQ(gate->count, 1u);
  }
}

TEST_F(References, ANativeFunctionThatFailsAfterAllLeavesNothing) {
  load(R"(
export func @run() -> test.counted {
  call.import @native.confused, %v0, %r0
  return
}
export func @fine() -> i32 {
  call.import @native.living, %v0, %r0
  return
})");
  EXPECT_FALSE(call("run"));
  EXPECT_EQ(Counted::living, 0);
  EXPECT_FALSE(call("native.confused"));
  EXPECT_EQ(Counted::living, 0);
  EXPECT_EQ(testing::expect_ok(call("fine"))[0].i32, 0) << "what it wanted to wait for is forgotten";
}

TEST_F(References, AnExhaustedStackReleasesAll) {
  load(R"(
export func @run() {
  call.import @native.make, %v0, %r0
  call @run, %v0, %r1
  return
})");
  EXPECT_FALSE(call("run"));
  EXPECT_EQ(Counted::living, 0);
}

}  // namespace
}  // namespace baton::vm
