// Goal: threads that share a context cannot take references from under each other: a program whose calls change what they
// share is called by one thread at a time, and says why; any other by all of them at once. Method: programs of each kind;
// one thread stays inside of a call while another tries.
#include "vm/shared_references.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace baton::vm {
namespace {

using ::testing::HasSubstr;

// "host.inside" runs what the test wants to happen during a call.
Ref<testing::NativeTestModule> make_host_module(std::function<void()>* inside) {
  auto module = make_ref<testing::NativeTestModule>("host");
  module->add(
      "inside", "v_v",
      [](NativeCall* call) -> Status::Failure* {
        if (const auto& function = *static_cast<std::function<void()>*>(call->data)) function();
        return nullptr;
      },
      inside);
  return module;
}

class SharedReferencesTest : public ::testing::Test {
 protected:
  Ref<Context> make(std::string_view text) {
    return testing::make_context({testing::make_native_module(), make_host_module(&inside_), testing::load_text(text)});
  }
  std::string changed(std::string_view text) { return changed(*make(text)); }
  static std::string changed(const Context& context) {
    const std::string* what = context.program().changes_shared();
    return what ? *what : "";
  }

  std::function<void()> inside_;
};

constexpr std::string_view kInside =
    "import @host.inside()\nexport func @inside() {\n  call.import @host.inside, %v0, %r0\n  return\n}\n";

TEST_F(SharedReferencesTest, WhatChangesThem) {
  const std::string store = R"(
global @kept : blob
func @put(%b: blob) { global.set.ref %b, @kept
 return }
export func @call(%b: blob) { call @put, %v0, %r0
 return }
)";
  EXPECT_EQ(changed(store), "function 'test.put' replaces references in globals");
  const std::string push = R"(
global @kept : LIST
export func @call(%l: list) { const.i32 %v0, 1
 list.push.i32 %l, %v0
 return }
)";
  const auto push_where = [&](std::string_view type) {
    std::string program = push;
    return program.replace(program.find("LIST"), 4, type);
  };
  EXPECT_EQ(changed(push_where("list")), "function 'test.call' changes lists, and a global may hold one");
  EXPECT_EQ(changed(push_where("ref")), "function 'test.call' changes lists, and a global may hold one");
  EXPECT_EQ(changed(push_where("blob")), "");
}

TEST_F(SharedReferencesTest, WhatDoesNot) {
  EXPECT_EQ(changed("global @n : i32\nexport func @next() -> i32 { global.get %v0, @n\n global.set %v0, @n\n return }"),
            "");
  EXPECT_EQ(changed(R"(
global @kept : blob
initializer @init
func @init() {
  call @put, %v0, %r0
  return
}
func @put() { ref.null %r0
 global.set.ref %r0, @kept
 return }
export func @get() -> blob { global.get.ref %r0, @kept
 return }
)"),
            "");
}

// A list that one module keeps may be changed by another.
TEST_F(SharedReferencesTest, AcrossModules) {
  const Ref<Context> context = testing::make_context(
      {testing::load_text(
           "module @keeper\nglobal @l : list\nexport func @get() -> list { global.get.ref %r0, @l\n return }"),
       testing::load_text(
           "module @pusher\nexport func @push(%l: list) { const.i32 %v0, 1\n list.push.i32 %l, %v0\n return }")});
  EXPECT_EQ(changed(*context), "function 'pusher.push' changes lists, and a global may hold one");
}

TEST_F(SharedReferencesTest, OneThreadAtATime) {
  const std::string text =
      std::string(kInside) + "global @kept : blob\nexport func @put(%b: blob) { global.set.ref %b, @kept\n return }\n";
  const Ref<Context> context = make(text);
  std::string said, nested;
  bool first = true;
  inside_ = [&] {
    if (!std::exchange(first, false)) return;
    nested = testing::call(context, "inside") ? "OK" : "refused";
    std::thread([&] {
      const auto result = testing::call(context, "put", {Value()});
      said = result ? "OK" : result.error().to_string();
    }).join();
  };
  EXPECT_TRUE(testing::call(context, "inside"));
  EXPECT_EQ(nested, "OK") << "the same thread may call again";
  EXPECT_EQ(
      said,
      "FAILED_PRECONDITION; another thread is in a call of this context, and function 'test.put' replaces references "
      "in globals: one thread at a time may call it; make a context for each");
  std::thread([&] { EXPECT_TRUE(testing::call(context, "put", {Value()})); }).join();
  EXPECT_TRUE(testing::call(context, "put", {Value()})) << "nobody is inside any more";
}

TEST_F(SharedReferencesTest, OthersAtOnce) {
  const Ref<Context> context = make(kInside);
  bool good = false, first = true;
  inside_ = [&] {
    if (!std::exchange(first, false)) return;
    std::thread([&] { good = testing::call(context, "inside").has_value(); }).join();
  };
  EXPECT_TRUE(testing::call(context, "inside"));
  EXPECT_TRUE(good);
}

// Under the thread sanitizer and the address sanitizer: whoever got in had the context for itself.
TEST_F(SharedReferencesTest, ManyThreadsTry) {
  const Ref<Context> context = make(R"(
global @kept : blob
global @count : i64
export func @put() {
  const.i64 %v0, 8
  blob.alloc %r0, %v0
  global.set.ref %r0, @kept
  global.get.ref %r1, @kept
  global.get %v0, @count
  const.i64 %v1, 1
  add.i64 %v0, %v0, %v1
  global.set %v0, @count
  return
}
export func @count() -> i64 { global.get %v0, @count
 return }
)");
  std::atomic<int64_t> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto result = testing::call(context, "put");
        if (result) {
          ++done;
        } else {
          EXPECT_EQ(result.error().code(), StatusCode::kFailedPrecondition);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(done, 1);
  EXPECT_EQ(testing::expect_ok(testing::call(context, "count"))[0].i64, done);
}

}  // namespace
}  // namespace baton::vm
