// A native function may ask where the program calls it: the module and the line, whichever instruction calls, through modules,
// and nothing where no program does.
#include "base/call_place.hpp"

#include <gtest/gtest.h>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

std::string described() {
  const CallPlace place = CallPlace::current();
  if (!place.module) return "nowhere";
  const CallPlace::Named named = place.name();
  return named.file.empty() ? text(named.module)
                            : text(named.module, " ", named.file, ":", named.line, ":", named.column);
}

// Says so to the string that is its data.
Status::Failure* note(NativeCall* call) {
  auto* const notes = static_cast<std::vector<std::string>*>(call->data);
  notes->push_back(described());
  return nullptr;
}

// Runs a program of its own in the midst.
Status::Failure* nest(NativeCall* call) {
  const auto* const inner = static_cast<const Ref<Context>*>(call->data);
  testing::expect_ok(testing::call(*inner, "inner.run"));
  return nullptr;
}

class CallPlaceTest : public ::testing::Test {
 protected:
  Ref<const Module> native(const Ref<Context>* inner = nullptr) {
    auto module = make_ref<testing::NativeTestModule>("native");
    module->add("note", "v_v", note, &notes_);
    module->add("count", "CiD_v", note, &notes_);
    module->add("lent", "r_v", note, &notes_);
    if (inner) module->add("nest", "v_v", nest, const_cast<Ref<Context>*>(inner));
    return module;
  }

  std::vector<std::string> notes_;
};

constexpr std::string_view kEveryCall = R"(
module @every
import @native.note()
import @native.count((i32)...)
import @native.lent(ref)
export func @first() {
  return
}
export func @run() {
  loc "program.mlir":3:5
  call.import @native.note, %v0, %r0
  const.i32 %v0, 1
  loc "program.mlir":4:7
  call.variadic @native.count, %v0, %r0, [1]
  ref.null %r0
  loc "program.mlir":5:9
  call.lend @native.lent, %v0, %r1, [%r0]
  loc "program.mlir":6:1
  call @inner, %v0, %r0
  return
}
func @inner() {
  loc "other.mlir":8:2
  call.import @native.note, %v0, %r0
  return
})";

TEST_F(CallPlaceTest, IsThatOfTheInstructionWhicheverCalls) {
  const Ref<Context> context = testing::make_context({native(), testing::load_text(kEveryCall)});
  testing::expect_ok(testing::call(context, "run"));
  EXPECT_EQ(notes_, (std::vector<std::string>{"every program.mlir:3:5", "every program.mlir:4:7",
                                              "every program.mlir:5:9", "every other.mlir:8:2"}));
  EXPECT_EQ(described(), "nowhere");
}

TEST_F(CallPlaceTest, OfAProgramWithoutADebugTableIsItsModule) {
  const Ref<Context> context = testing::make_context({native(), testing::load_text(R"(
module @plain
import @native.note()
export func @run() {
  call.import @native.note, %v0, %r0
  return
})",
                                                                                   {.strip_debug = true})});
  testing::expect_ok(testing::call(context, "run"));
  EXPECT_EQ(notes_, std::vector<std::string>{"plain"});
}

TEST_F(CallPlaceTest, OfAHostsCallIsNowhere) {
  const Ref<Context> context = testing::make_context({native(), testing::load_text(kEveryCall)});
  Invocation invocation(context);
  testing::expect_ok(testing::call(invocation, context, "run"));  // Leaves its places behind.
  notes_.clear();
  testing::expect_ok(testing::call(invocation, context, "native.note"));
  EXPECT_EQ(notes_, std::vector<std::string>{"nowhere"});
}

TEST_F(CallPlaceTest, IsTheInnermostProgramsAndThenTheOuterOnesAgain) {
  const Ref<Context> inner = testing::make_context({native(), testing::load_text(R"(
module @inner
import @native.note()
export func @run() {
  call.import @native.note, %v0, %r0
  return
})")});
  const Ref<Context> outer = testing::make_context({native(&inner), testing::load_text(R"(
module @outer
import @native.note()
import @native.nest()
export func @run() {
  call.import @native.nest, %v0, %r0
  call.import @native.note, %v0, %r0
  return
})")});
  testing::expect_ok(testing::call(outer, "outer.run"));
  EXPECT_EQ(notes_.size(), 2u);
  EXPECT_TRUE(notes_[0].starts_with("inner")) << notes_[0];
  EXPECT_TRUE(notes_[1].starts_with("outer")) << notes_[1];
}

}  // namespace
}  // namespace baton::vm
