// A tracer hears of every instruction, in order, with the module and function it belongs to.
#include "vm/tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

struct Recorder final : Tracer {
  void instruction(const LinkedModule& module, const Function& function, uint32_t pc) override {
    lines.push_back(text(module.module->name(), ".", module.bytecode->view().function_name(function.index), " ", pc));
  }
  std::vector<std::string> lines;
};

constexpr std::string_view kUser = R"(
module @user
import @lib.twice(i32) -> i32
export func @run(%n: i32) -> i32 {
  const.i32 %v1, 2
  const.i32 %v2, 0
again:
  next.i32 %v2, %v1, again
  call.import @lib.twice, %n, %r0
  yield
  return
})";
constexpr std::string_view kLibrary = R"(
module @lib
export func @twice(%n: i32) -> i32 {
  add.i32 %v0, %n, %n
  return
})";

TEST(Tracer, HearsOfEveryInstruction) {
  const Ref<Context> context = testing::make_context({testing::load_text(kLibrary), testing::load_text(kUser)});
  Recorder recorder;
  Invocation invocation(context);
  invocation.set_tracer(&recorder);
  EXPECT_EQ(testing::expect_ok(testing::call(invocation, context, "run", {Value::of(int32_t{21})}))[0].i32, 42);
  EXPECT_THAT(recorder.lines,
              ::testing::ElementsAre("user.run 0", "user.run 1", "user.run 2", "user.run 2", "user.run 3",
                                     "lib.twice 0", "lib.twice 1", "user.run 4", "user.run 5"));
  EXPECT_EQ(invocation.instructions(), recorder.lines.size());
  invocation.set_tracer(nullptr);
  testing::expect_ok(testing::call(invocation, context, "run", {Value::of(int32_t{21})}));
  EXPECT_EQ(recorder.lines.size(), 9u) << "silent again";
}

}  // namespace
}  // namespace baton::vm
