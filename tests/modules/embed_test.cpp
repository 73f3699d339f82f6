// Goal: a program in C can do what embed.h promises, and reads why where it cannot. Method: its functions, called as C
// does.
#include "modules/sdk/embed.h"

#include <gtest/gtest.h>

#include <thread>

#include "bytecode/assembler.hpp"
#include "modules/sdk/module.hpp"
#include "modules/sdk/pending.hpp"

namespace {

using baton::sdk::Pending;
using baton::sdk::Promise;

class Later final : public baton::sdk::Module<Later> {
 public:
  // Answers on another thread.
  Pending<int32_t> twice(int32_t number) {
    Promise<int32_t> promise;
    Pending<int32_t> pending = promise.pending();
    std::thread([promise = std::move(promise), number]() mutable { promise.complete(number * 2); }).detach();
    return pending;
  }
  Pending<void> never() {
    forgotten_.emplace();
    return forgotten_->pending();
  }

 private:
  std::optional<Promise<void>> forgotten_;
};
BATON_MODULE_QUERY(query_later, Later, "later", BATON_FUNCTION("twice", &Later::twice),
                   BATON_FUNCTION("never", &Later::never));

constexpr std::string_view kProgram = R"(
module @program
import @later.twice(i32) -> i32
import @later.never()
export func @add(%a: i32, %b: i32) -> i32 { add.i32 %v0, %a, %b
 return }
export func @divide(%a: i32, %b: i32) -> i32 { div.s.i32 %v0, %a, %b
 return }
export func @fourfold(%a: i32) -> i32 {
  call.import @later.twice, %v0, %r0
  call.import @later.twice, %v0, %r0
  return
}
export func @wait_forever() { call.import @later.never, %v0, %r0
 return }
export func @same(%blob: blob) -> blob { return }
)";

// Reads and frees a failure.
std::string message_of(baton_status* status) {
  const std::string message = baton_status_get_message(status);
  baton_status_free(status);
  return message;
}

class Embed : public testing::Test {
 protected:
  void SetUp() override {
    const baton_module_descriptor* descriptor = nullptr;
    ASSERT_EQ(query_later(baton_host_table(), 0, nullptr, &descriptor), nullptr);
    ASSERT_EQ(baton_module_from_descriptor(descriptor, &modules_[0]), nullptr);
    auto bytes = baton::bytecode::assemble(kProgram);
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message();
    ASSERT_EQ(baton_module_load_memory(bytes->data(), bytes->size(), &modules_[1]), nullptr);
    ASSERT_EQ(baton_context_create(modules_, 2, nullptr, &context_), nullptr);
    ASSERT_EQ(baton_invocation_create(context_, &invocation_), nullptr);
  }
  void TearDown() override {
    baton_invocation_release(invocation_);
    baton_context_release(context_);
    for (baton_module* module : modules_) baton_module_release(module);
  }
  const baton_function* find(const char* name) {
    const baton_function* function = nullptr;
    EXPECT_EQ(baton_context_find(context_, name, &function), nullptr) << name;
    return function;
  }

  baton_module* modules_[2] = {};
  baton_context* context_ = nullptr;
  baton_invocation* invocation_ = nullptr;
};

TEST_F(Embed, KnowsItsVersions) {
  EXPECT_EQ(baton_abi_version(), BATON_ABI_VERSION);
  EXPECT_STRNE(baton_version(), "");
}

TEST_F(Embed, FindsAndCallsFunctions) {
  const baton_function* add = find("add");
  EXPECT_EQ(find("program.add"), find("program.add")) << "found once";
  EXPECT_STREQ(baton_function_signature(add), "ii_i");
  const baton_value arguments[] = {baton_value_of_i32(40), baton_value_of_i32(2)};
  baton_value result;
  ASSERT_EQ(baton_invocation_invoke(invocation_, add, arguments, 2, &result, 1), nullptr);
  EXPECT_EQ(result.i32, 42);
}

TEST_F(Embed, PassesReferences) {
  const baton_function* same = find("same");
  baton_value blob;
  blob.ref = baton_host_table()->blob_make(3);
  baton_value result;
  ASSERT_EQ(baton_invocation_invoke(invocation_, same, &blob, 1, &result, 1), nullptr);
  EXPECT_EQ(result.ref, blob.ref);
  EXPECT_EQ(blob.ref->count, 2u) << "ours, and the result";
  baton_object_release(result.ref);
  baton_object_release(blob.ref);
}

TEST_F(Embed, WaitsForResultsThatComeLater) {
  const baton_value argument = baton_value_of_i32(3);
  baton_value result;
  ASSERT_EQ(baton_invocation_invoke(invocation_, find("fourfold"), &argument, 1, &result, 1), nullptr);
  EXPECT_EQ(result.i32, 12);
}

TEST_F(Embed, CancelsFromAnotherThread) {
  std::thread canceller([this] { baton_invocation_cancel(invocation_); });
  baton_status* status = baton_invocation_invoke(invocation_, find("wait_forever"), nullptr, 0, nullptr, 0);
  canceller.join();
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(baton_status_get_code(status), BATON_CANCELLED);
  baton_status_free(status);
}

TEST_F(Embed, TellsWhyACallFailed) {
  const baton_value arguments[] = {baton_value_of_i32(1), baton_value_of_i32(0)};
  baton_value result;
  EXPECT_NE(message_of(baton_invocation_invoke(invocation_, find("divide"), arguments, 2, &result, 1)).find("zero"),
            std::string::npos);
  baton_status* status = baton_invocation_invoke(invocation_, find("add"), arguments, 1, &result, 1);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(baton_status_get_code(status), BATON_INVALID_ARGUMENT);
  baton_status_free(status);
}

TEST_F(Embed, TellsWhatIsMissing) {
  const baton_function* function = nullptr;
  EXPECT_NE(message_of(baton_context_find(context_, "ad", &function)).find("'ad'"), std::string::npos);
  EXPECT_EQ(function, nullptr);
  baton_module* module = nullptr;
  EXPECT_NE(message_of(baton_module_load_file("nowhere.bvm", &module)).find("nowhere.bvm"), std::string::npos);
  EXPECT_NE(message_of(baton_module_load_plugin("nowhere.so", &module)).find("nowhere.so"), std::string::npos);
  baton_context* context = nullptr;
  EXPECT_NE(message_of(baton_context_create(&modules_[1], 1, nullptr, &context)).find("later"), std::string::npos);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(message_of(baton_context_create(&module, 1, nullptr, &context)), "Module 0 of the context is null.");
}

TEST_F(Embed, RefusesBytesThatAreNoModule) {
  baton_module* module = nullptr;
  EXPECT_NE(message_of(baton_module_load_memory("no module at all", 16, &module)), "");
  EXPECT_EQ(module, nullptr);
}

}  // namespace
