// Goal: cancellation, deadline and budget end whatever verified code does: instructions that work on many bytes, slow
// ones, code without a branch, deep returns, initializers. Method: an import cancels (or lets the deadline pass) while
// the call runs, and what comes next must not be finished; work is counted, never timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"
#include "vm/invocation.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

// Work on 64 MiB, one row for each kind of instruction that can do so much at once. The blob is %r0, a copy of it %r1,
// a list of 4 Mi elements %r2; %v0 is 0, %v1 the size, %v2 the number of elements, %v3 a pattern.
struct Work {
  const char* name;
  const char* code;
};
constexpr Work kWorks[] = {
    {"hash", "blob.hash %v4, %r0, %v0, %v1"},
    {"compare", "blob.compare %v4, %r0, %v0, %r1, %v0, %v1"},
    {"copy", "blob.copy %r0, %v0, %r1, %v0, %v1"},
    {"clone", "blob.clone %r3, %r0, %v0, %v1"},
    {"alloc", "blob.alloc %r3, %v1"},
    {"fill_i8", "blob.fill.i8 %r0, %v0, %v1, %v3"},
    {"fill_i16", "blob.fill.i16 %r0, %v0, %v1, %v3"},
    {"fill_i32", "blob.fill.i32 %r0, %v0, %v1, %v3"},
    {"fill_i64", "blob.fill.i64 %r0, %v0, %v1, %v1"},
    {"shrink", "list.resize %r2, %v0"},
    {"grow", "list.resize %r2, %v1"},
    {"reserve", "list.reserve %r2, %v1"},
    {"push", "list.push.i32 %r2, %v3"},
    {"push_ref", "list.push.ref %r2, %r0"},
};

std::string program() {
  std::string text = R"(
import @native.stop()
global @blob: ref
global @other: ref
global @list: ref
export func @prepare() {
  const.i64.wide %v1, 67108864
  const.i64.wide %v2, 4194304
  blob.alloc %r0, %v1
  blob.alloc %r1, %v1
  list.alloc %r2, %v2
  list.resize %r2, %v2
  global.set.ref %r0, @blob
  global.set.ref %r1, @other
  global.set.ref %r2, @list
  return
}
)";
  for (const auto& [name, code] : kWorks) {
    text += baton::text("export func @", name, "() values 6 refs 5 {\n", R"(  const.i64 %v0, 0
  const.i64.wide %v1, 67108864
  const.i64.wide %v2, 4194304
  const.i32 %v3, 1
  global.get.ref %r0, @blob
  global.get.ref %r1, @other
  global.get.ref %r2, @list
  call.import @native.stop, %v5, %r4
  )",
                        code, "\n  return\n}\n");
  }
  return text;
}

class LimitsTest : public ::testing::Test {
 protected:
  LimitsTest() {
    auto native = make_ref<testing::NativeTestModule>("native");
    native->add(
        "stop", "v_v",
        [](NativeCall* call) -> Status::Failure* {
          auto& stop = static_cast<LimitsTest*>(call->data)->stop_;
          if (stop) stop();
          return nullptr;
        },
        this);
    native_ = native;
  }
  void load(std::string_view text) {
    context_ = testing::make_context({native_, testing::load_text(text)});
    invocation_.emplace(context_);
  }
  Status run(std::string_view name) {
    auto result = testing::call(*invocation_, context_, name);
    return result ? Status() : std::move(result).error();
  }

  std::function<void()> stop_;
  uint64_t begun_ = 0;
  Ref<const Module> native_;
  Ref<Context> context_;
  std::optional<Invocation> invocation_;
};

TEST_F(LimitsTest, WorkOnManyBytesIsCancelledOnTheWay) {
  load(program());
  for (const auto& [name, code] : kWorks) {
    SCOPED_TRACE(name);
    stop_ = nullptr;
    ASSERT_TRUE(run("prepare").ok());
    stop_ = [this] { invocation_->cancel(); };
    const std::string said = run(name).to_string();
    EXPECT_THAT(said, HasSubstr("CANCELLED; invocation was cancelled\n  at test."));
    EXPECT_THAT(said, HasSubstr(", word 10")) << "at the instruction, which was not finished";
    invocation_->clear_cancel();
  }
}

TEST_F(LimitsTest, WorkOnManyBytesEndsAtTheDeadline) {
  load(program());
  for (const auto& [name, code] : kWorks) {
    SCOPED_TRACE(name);
    stop_ = nullptr;
    ASSERT_TRUE(run("prepare").ok());
    stop_ = [this] { invocation_->set_deadline(1); };
    EXPECT_THAT(run(name).to_string(), HasSubstr("DEADLINE_EXCEEDED; deadline has passed\n  at test."));
    invocation_->set_deadline(0);
  }
}

// 64 MiB are a million units; a list that grows by one copies what it has.
TEST_F(LimitsTest, WorkOnManyBytesIsPaidFromTheBudget) {
  load(program());
  for (const auto& [name, code] : kWorks) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(run("prepare").ok());
    invocation_->set_instruction_budget(1000);
    EXPECT_THAT(run(name).to_string(), HasSubstr("RESOURCE_EXHAUSTED; instruction budget is exhausted (1000)"));
    EXPECT_EQ(invocation_->instructions(), 1000u);
    invocation_->set_instruction_budget(0);
  }
}

TEST_F(LimitsTest, LittleWorkIsOneInstruction) {
  load(R"(
export func @little() {
  const.i64 %v0, 0
  const.i64 %v1, 63
  blob.alloc %r0, %v1
  blob.clone %r1, %r0, %v0, %v1
  blob.copy %r0, %v0, %r1, %v0, %v1
  blob.compare %v2, %r0, %v0, %r1, %v0, %v1
  blob.hash %v3, %r0, %v0, %v1
  return
})");
  invocation_->set_instruction_budget(8);
  EXPECT_TRUE(run("little").ok());
  EXPECT_EQ(invocation_->instructions(), 8u);
}

// What moves up over itself is moved from its end, in stretches as in one piece.
TEST_F(LimitsTest, StretchesGiveWhatOnePieceGives) {
  load(R"(
export func @moved(%from: i64, %to: i64, %size: i64) -> (i64, i64) {
  const.i64.wide %v3, 1000000
  blob.alloc %r0, %v3
  const.i64 %v4, 0
  const.i64.wide %v5, 125000
fill:
  blob.put.i64 %v4, %r0, %v4
  next.i64 %v4, %v5, fill
  const.i64 %v4, 0
  blob.clone %r1, %r0, %from, %size
  blob.copy %r0, %from, %r0, %to, %size
  blob.hash %v6, %r0, %to, %size
  blob.hash %v7, %r1, %v4, %size
  move %v0, %v6
  move %v1, %v7
  return
})");
  constexpr int64_t kCases[][3] = {{0, 8, 999992},      {8, 0, 999992},      {0, 131072, 800000}, {131072, 0, 800000},
                                   {0, 131071, 800001}, {3, 500000, 400000}, {0, 0, 1000000},     {7, 9, 0}};
  for (const auto& [from, to, size] : kCases) {
    SCOPED_TRACE(::testing::Message() << from << " to " << to << ", " << size << " bytes");
    const auto hashes = testing::expect_ok(
        testing::call(*invocation_, context_, "moved", {Value::of(from), Value::of(to), Value::of(size)}));
    EXPECT_EQ(hashes[0].i64, hashes[1].i64);
  }
}

// Instructions that run after a cancellation, counted.
TEST_F(LimitsTest, CodeWithoutBranchesIsLeftSoon) {
  struct Case {
    size_t nops;
    uint64_t most;
  };
  // 2^19 words between two looks, or 4096 instructions where no number of branches is few enough.
  for (const auto& [nops, most] : {Case{10, 20'000}, Case{4000, 600'000}, Case{1'100'000, 10'000}}) {
    SCOPED_TRACE(nops);
    std::string body;
    for (size_t i = 0; i < nops; ++i) body += "nop\n";
    load(text("import @native.stop()\nfunc @body() {\n", body, R"(return
}
export func @run() {
  call.import @native.stop, %v0, %r0
again:
  call @body, %v0, %r0
  br again
})"));
    stop_ = [this] {
      invocation_->cancel();
      begun_ = invocation_->instructions();
    };
    invocation_->set_instruction_budget(uint64_t{1} << 40);  // counts
    EXPECT_EQ(run("run").code(), StatusCode::kCancelled);
    EXPECT_LE(invocation_->instructions() - begun_, most);
  }
}

// Each return leads to more code; no call or branch is on the way.
TEST_F(LimitsTest, DeepReturnsAreLeftSoon) {
  std::string body;
  for (int i = 0; i < 4000; ++i) body += "nop\n";
  load(text(R"(import @native.stop()
func @dive(%n: i32) {
  const.i32 %v1, 1
  sub.i32 %v1, %n, %v1
  br.if %v1, deeper
  call.import @native.stop, %v2, %r0
  return
deeper:
  call @dive, %v1, %r0
)",
            body, R"(return
}
export func @run() {
  const.i32 %v0, 1500
  call @dive, %v0, %r0
  return
})"));
  stop_ = [this] {
    invocation_->cancel();
    begun_ = invocation_->instructions();
  };
  invocation_->set_instruction_budget(uint64_t{1} << 40);
  EXPECT_EQ(run("run").code(), StatusCode::kCancelled);
  EXPECT_LE(invocation_->instructions() - begun_, 600'000u);
}

TEST_F(LimitsTest, TheLastReturnIsNotTooLate) {
  load("export func @run() { return }");
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(run("run").ok());
}

TEST_F(LimitsTest, SlowInstructionsAreLeftSoon) {
  std::string body;
  for (int i = 0; i < 200; ++i) body += "rem.f64 %v2, %v0, %v1\n";
  load(text("import @native.stop()\nexport func @run() {\n  const.i64.wide %v0, 9218868437227405311\n",
            "  const.i64 %v1, 3\n  const.f64 %v0, 1.7e308\n  const.f64 %v1, 3e-320\n",
            "  call.import @native.stop, %v3, %r0\n", body, "  return\n}"));
  stop_ = [this] {
    invocation_->cancel();
    begun_ = invocation_->instructions();
  };
  invocation_->set_instruction_budget(uint64_t{1} << 40);
  EXPECT_EQ(run("run").code(), StatusCode::kCancelled);
  EXPECT_LE(invocation_->instructions() - begun_, 64u);
}

constexpr std::string_view kHang = "initializer @init\nfunc @init() {\nagain:\n  br again\n}";

std::string making(const InitializerLimits& limits) {
  auto program = testing::expect_ok(testing::link({testing::load_text(kHang)}));
  auto context = Context::make(program, system_allocator(), limits);
  return context ? "made" : context.error().to_string();
}

TEST(InitializerLimits, EndAnInitializerThatHangs) {
  EXPECT_THAT(making({.instructions = 1000}), HasSubstr("RESOURCE_EXHAUSTED; instruction budget is exhausted (1000)"));
  EXPECT_THAT(making({.deadline_ns = monotonic_clock_ns() + 1'000'000}), HasSubstr("DEADLINE_EXCEEDED"));
  std::atomic<bool> cancelled{true};
  EXPECT_THAT(making({.cancelled = &cancelled}), HasSubstr("CANCELLED"));
}

TEST(InitializerLimits, AnotherThreadCancelsTheMaking) {
  std::atomic<bool> cancelled{false};
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancelled = true;
  });
  EXPECT_THAT(making({.cancelled = &cancelled}), HasSubstr("while initializing module 'test'"));
}

}  // namespace
}  // namespace baton::vm
