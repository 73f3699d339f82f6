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

// What a host forgets is a sentence, and the same objects work afterwards.
TEST_F(Embed, WhatIsMissingIsNamed) {
  const baton_function* add = find("add");
  const baton_value arguments[] = {baton_value_of_i32(40), baton_value_of_i32(2)};
  baton_typed_value typed[] = {baton_typed_value_of(arguments[0], 'i'), baton_typed_value_of(arguments[1], 'i')};
  baton_value result = {};
  baton_module* module = nullptr;
  baton_context* context = nullptr;
  baton_invocation* invocation = nullptr;
  const baton_function* function = nullptr;
  const std::string kNull = " is null.";
  for (baton_status* status : {
           baton_module_load_file(nullptr, &module),
           baton_module_load_file("x.bvm", nullptr),
           baton_module_load_memory(nullptr, 8, &module),
           baton_module_load_memory(nullptr, UINT64_MAX, &module),
           baton_module_load_memory("", 0, nullptr),
           baton_module_load_memory_with_limits(nullptr, 8, nullptr, &module),
           baton_module_load_memory_with_limits("", 0, nullptr, nullptr),
           baton_module_from_descriptor(nullptr, &module),
           baton_module_load_plugin(nullptr, &module),
           baton_context_create(nullptr, 1, nullptr, &context),
           baton_context_create(modules_, 2, nullptr, nullptr),
           baton_cancellation_create(nullptr),
           baton_context_find(nullptr, "add", &function),
           baton_context_find(context_, nullptr, &function),
           baton_context_find(context_, "add", nullptr),
           baton_context_find_typed(context_, "add", nullptr, &function),
           baton_invocation_create(nullptr, &invocation),
           baton_invocation_create(context_, nullptr),
           baton_invocation_invoke(nullptr, add, arguments, 2, &result, 1),
           baton_invocation_invoke(invocation_, nullptr, arguments, 2, &result, 1),
           baton_invocation_invoke(invocation_, add, nullptr, 2, &result, 1),
           baton_invocation_invoke(invocation_, add, arguments, 2, nullptr, 1),
           baton_invocation_call(invocation_, add, nullptr, 2, typed, 1),
           baton_invocation_call(invocation_, add, typed, 2, nullptr, 1),
       }) {
    ASSERT_NE(status, nullptr);
    const std::string message = message_of(status);
    EXPECT_NE(message.find(kNull), message.npos) << message;
  }
  baton_status* huge = baton_module_load_memory("", UINT64_MAX, &module);
  ASSERT_NE(huge, nullptr);
  EXPECT_NE(message_of(huge).find("is in no memory"), std::string::npos);
  baton_module_release(nullptr);
  baton_context_release(nullptr);
  baton_invocation_release(nullptr);
  baton_cancellation_release(nullptr);
  baton_cancellation_cancel(nullptr);
  baton_invocation_cancel(nullptr);
  baton_invocation_clear_cancel(nullptr);
  baton_invocation_set_timeout(nullptr, 1);
  baton_invocation_set_instruction_budget(nullptr, 1);
  baton_status_free(nullptr);
  EXPECT_STREQ(baton_function_signature(nullptr), "");
  ASSERT_EQ(baton_invocation_invoke(invocation_, add, arguments, 2, &result, 1), nullptr);
  EXPECT_EQ(result.i32, 42);
}

// It would run on the other's globals.
TEST_F(Embed, AFunctionOfAnotherContextIsRefused) {
  baton_context* other = nullptr;
  ASSERT_EQ(baton_context_create(modules_, 2, nullptr, &other), nullptr);
  const baton_function* add = nullptr;
  ASSERT_EQ(baton_context_find(other, "add", &add), nullptr);
  const baton_value arguments[] = {baton_value_of_i32(40), baton_value_of_i32(2)};
  baton_value result = {};
  baton_status* status = baton_invocation_invoke(invocation_, add, arguments, 2, &result, 1);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(message_of(status), "Function 'add' was found in another context than the invocation's.");
  baton_context_release(other);
}

TEST_F(Embed, AFunctionIsFoundByItsType) {
  const baton_function* function = nullptr;
  ASSERT_EQ(baton_context_find_typed(context_, "add", "ii_i", &function), nullptr);
  EXPECT_STREQ(baton_function_signature(function), "ii_i");
  EXPECT_EQ(message_of(baton_context_find_typed(context_, "add", "fi_i", &function)),
            "function 'add' is (i32, i32) -> (i32); it was taken for (f32, i32) -> (i32)");
  EXPECT_EQ(function, nullptr);
  ASSERT_EQ(baton_context_find_typed(context_, "same", "r_r", &function), nullptr);
  ASSERT_EQ(baton_context_find_typed(context_, "same", "r<blob>_r<blob>", &function), nullptr);
}

TEST_F(Embed, CallsWithTypes) {
  const baton_typed_value right[] = {baton_typed_i32(40), baton_typed_i32(2)};
  baton_typed_value result = baton_typed_f64(0);
  ASSERT_EQ(baton_invocation_call(invocation_, find("add"), right, 2, &result, 1), nullptr);
  EXPECT_EQ(result.letter, 'i');
  EXPECT_EQ(result.value.i32, 42);
  const baton_typed_value wrong[] = {baton_typed_i32(40), baton_typed_f32(2)};
  EXPECT_EQ(message_of(baton_invocation_call(invocation_, find("add"), wrong, 2, &result, 1)),
            "function 'add' takes (i32, i32) -> (i32); argument 2 is of type f32, where i32 is wanted");
  EXPECT_EQ(message_of(baton_invocation_call(invocation_, find("add"), right, 1, &result, 1)),
            "function 'add' takes (i32, i32) -> (i32); 1 arguments were given");
  EXPECT_EQ(message_of(baton_invocation_call(invocation_, find("add"), right, 2, nullptr, 0)),
            "function 'add' has 1 results, but room is given for 0");
  baton_typed_value many[1000];
  EXPECT_EQ(message_of(baton_invocation_call(invocation_, find("add"), right, 2, many, 1000)),
            "function 'add' has 1 results, but room is given for 1000");
  EXPECT_EQ(result.value.i32, 42) << "written on success only";

  const baton_typed_value number = baton_typed_i64(0x1234);  // Not followed as if it were a reference.
  EXPECT_NE(message_of(baton_invocation_call(invocation_, find("same"), &number, 1, &result, 1)).find("is of type i64"),
            std::string::npos);
  baton_object* const blob = baton_host_table()->blob_make(3);
  const baton_typed_value reference = baton_typed_ref(blob);
  ASSERT_EQ(baton_invocation_call(invocation_, find("same"), &reference, 1, &result, 1), nullptr);
  EXPECT_EQ(result.letter, 'r');
  EXPECT_EQ(result.value.ref, blob);
  baton_object_release(result.value.ref);
  baton_object_release(blob);
}

// A slot says nothing of its type, but an i64 or an f64 that would be cut is seen.
TEST_F(Embed, SlotsThatWouldBeCutAreRefused) {
  baton_value result;
  for (const baton_value wide :
       {baton_value_of_i64(int64_t{1} << 32), baton_value_of_f64(1.5), baton_value_of_i64(-1)}) {
    const baton_value arguments[] = {baton_value_of_i32(1), wide};
    EXPECT_NE(message_of(baton_invocation_invoke(invocation_, find("add"), arguments, 2, &result, 1))
                  .find("argument 2 holds more than 32 bits"),
              std::string::npos);
  }
}

TEST_F(Embed, BudgetsAndTimeoutsEndCalls) {
  const baton_function* const add = find("add");
  const baton_value arguments[] = {baton_value_of_i32(1), baton_value_of_i32(2)};
  baton_value result;
  const auto call = [&] { return baton_invocation_invoke(invocation_, add, arguments, 2, &result, 1); };
  baton_invocation_set_instruction_budget(invocation_, 1);
  EXPECT_NE(message_of(call()).find("instruction budget is exhausted (1)"), std::string::npos);
  baton_invocation_set_instruction_budget(invocation_, 0);
  baton_invocation_set_timeout(invocation_, -1);
  EXPECT_NE(message_of(call()).find("deadline has passed"), std::string::npos);
  baton_invocation_set_timeout(invocation_, INT64_MAX);
  ASSERT_EQ(call(), nullptr);
  baton_invocation_set_timeout(invocation_, 0);
  baton_invocation_cancel(invocation_);
  EXPECT_NE(message_of(call()).find("invocation was cancelled"), std::string::npos);
  baton_invocation_clear_cancel(invocation_);
  ASSERT_EQ(call(), nullptr);
  EXPECT_EQ(result.i32, 3);
}

// A module that takes a while to prove: the limits end that, and without them it is read.
TEST(EmbedLimits, EndTheReadingOfAModule) {
  std::string text = "module @large\n";
  for (int i = 0; i < 20'000; ++i) text += "func @f" + std::to_string(i) + "() { return }\n";
  auto bytes = baton::bytecode::assemble(text);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message();
  baton_module* module = nullptr;
  baton_cancellation* cancellation = nullptr;
  ASSERT_EQ(baton_cancellation_create(&cancellation), nullptr);
  baton_cancellation_cancel(cancellation);
  baton_initializer_limits limits = {};
  limits.struct_size = sizeof(limits);
  limits.cancellation = cancellation;
  const auto load = [&] {
    return baton_module_load_memory_with_limits(bytes->data(), bytes->size(), &limits, &module);
  };
  EXPECT_EQ(message_of(load()), "The module was verified up to function 0: that was cancelled.");
  EXPECT_EQ(module, nullptr);
  limits.cancellation = nullptr;
  limits.timeout_ns = -1;
  EXPECT_EQ(message_of(load()), "The module was verified up to function 0: the deadline has passed.");
  limits.timeout_ns = INT64_MAX;
  ASSERT_EQ(load(), nullptr);
  baton_module_release(module);
  limits.reserved = 1;
  EXPECT_NE(message_of(load()).find("reserved field"), std::string::npos);
  baton_cancellation_release(cancellation);
}

// Of a module whose initializer never ends.
TEST(EmbedLimits, EndTheMakingOfAContext) {
  auto bytes = baton::bytecode::assemble("module @hang\ninitializer @init\nfunc @init() {\nagain:\n  br again\n}");
  ASSERT_TRUE(bytes.has_value());
  baton_module* module = nullptr;
  ASSERT_EQ(baton_module_load_memory(bytes->data(), bytes->size(), &module), nullptr);
  baton_context* context = nullptr;
  const auto make = [&](uint64_t instructions, int64_t timeout_ns, const baton_cancellation* cancellation) {
    const baton_initializer_limits limits = {sizeof(limits), 0, instructions, timeout_ns, cancellation};
    return message_of(baton_context_create_with_limits(&module, 1, nullptr, &limits, &context));
  };
  EXPECT_NE(make(1000, 0, nullptr).find("instruction budget is exhausted (1000)"), std::string::npos);
  EXPECT_NE(make(0, 1'000'000, nullptr).find("deadline has passed"), std::string::npos);
  baton_cancellation* cancellation = nullptr;
  ASSERT_EQ(baton_cancellation_create(&cancellation), nullptr);
  std::thread canceller([&] { baton_cancellation_cancel(cancellation); });
  EXPECT_NE(make(0, 0, cancellation).find("invocation was cancelled"), std::string::npos);
  canceller.join();
  baton_cancellation_release(cancellation);
  baton_initializer_limits longer = {};
  longer.struct_size = sizeof(longer) + 8;
  EXPECT_NE(message_of(baton_context_create_with_limits(&module, 1, nullptr, &longer, &context)).find("40 bytes"),
            std::string::npos);
  EXPECT_EQ(context, nullptr);
  baton_module_release(module);
}

}  // namespace
