// The calls of a program as spans: functions inside functions, recursion, tail calls, imports native or not, and what a trap
// leaves open is closed.
#include "vm/timeline_tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

constexpr std::string_view kLibrary = R"(
module @lib
export func @twice(%n: i32) -> i32 {
  add.i32 %v0, %n, %n
  return
})";
constexpr std::string_view kUser = R"(
module @user
import @lib.twice(i32) -> i32
export func @run(%n: i32) -> i32 {
  call.import @lib.twice, %n, %r0
  call @down, %n, %r0
  call.import @lib.twice, %n, %r0
  return
}
func @down(%n: i32) -> i32 {
  const.i32 %v1, 1
  br.lt.s.i32 %n, %v1, done
  add.imm.i32 %n, %n, -1
  call @down, %n, %r0
done:
  return
}
export func @tail(%n: i32) -> i32 {
  call.tail @down
}
export func @divide(%n: i32) -> i32 {
  call @divided, %n, %r0
  return
}
func @divided(%n: i32) -> i32 {
  const.i32 %v1, 0
  div.s.i32 %v0, %n, %v1
  return
})";

using Counts = std::map<std::string, int>;

class TimelineTracerTest : public ::testing::Test {
 protected:
  // Counts by name; checks that spans lie inside each other.
  Counts spans_of(std::string_view function, int32_t argument, bool fails = false) {
    const Ref<Context> context = testing::make_context({testing::load_text(kLibrary), testing::load_text(kUser)});
    Timeline timeline;
    TimelineTracer tracer(timeline);
    Invocation invocation(context);
    invocation.set_tracer(&tracer);
    const auto called = testing::call(invocation, context, function, {Value::of(argument)});
    EXPECT_EQ(called.has_value(), !fails);
    tracer.finish();
    EXPECT_EQ(Timeline::current_call(), nullptr);
    Counts counts;
    std::vector<Timeline::Span> spans;
    timeline.for_each([&](std::string_view, const Timeline::Span& span) {
      ++counts[span.label->name];
      spans.push_back(span);
    });
    // A span is told when it ends: one that is told later is around it, or begins behind it.
    for (size_t i = 0; i < spans.size(); ++i) {
      for (size_t j = i + 1; j < spans.size(); ++j) {
        const int64_t end = spans[i].begin_ns + spans[i].duration_ns;
        EXPECT_GE(spans[j].begin_ns + spans[j].duration_ns, end);
        if (spans[j].begin_ns > spans[i].begin_ns) {
          EXPECT_GE(spans[j].begin_ns, end);
        }
      }
    }
    return counts;
  }
};

TEST_F(TimelineTracerTest, FunctionsRecursionAndImportsThatAreBytecode) {
  EXPECT_EQ(spans_of("run", 2), (Counts{{"user.run", 1}, {"lib.twice", 2}, {"user.down", 5}}));
  EXPECT_EQ(spans_of("run", 0), (Counts{{"user.run", 1}, {"lib.twice", 2}, {"user.down", 1}}));
}

TEST_F(TimelineTracerTest, ATailCallTakesThePlaceOfItsCaller) {
  EXPECT_EQ(spans_of("tail", 3), (Counts{{"user.tail", 1}, {"user.down", 4}}));
}

TEST_F(TimelineTracerTest, WhatATrapLeavesOpenIsClosed) {
  EXPECT_EQ(spans_of("divide", 1, true), (Counts{{"user.divide", 1}, {"user.divided", 1}}));
}

}  // namespace
}  // namespace baton::vm
