// Goal: whatever a native function does that keeps the contract of module.h, its state, data and slots are its own, and
// nothing is lost or freed twice. Method: every combination of (module with commands, prepares, suspends, fails,
// replaces references, leaves its arguments, scribbles over its baton_call) × (called, lent to, called by the host) ×
// (waited for, resumed, resumed on another thread, abandoned, dropped), and custom commands that do the same; objects
// are counted.
#include <gmock/gmock.h>

#include <thread>

#include "modules/host_table.hpp"
#include "modules/native_module.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

using vm::Value;
using Outcome = vm::Invocation::Outcome;

std::atomic<int> living_objects = 0;

struct Token : baton_object {};
void destroy_token(baton_object* object) {
  --living_objects;
  delete static_cast<Token*>(object);
}
int32_t wait_for_token(baton_object*, int64_t) { return 0; }  // Ready at once: how often it is asked says nothing here.
const baton_object_type kTokenType = {sizeof(baton_object_type), 0, "matrix.token", destroy_token, wait_for_token};
baton_object* make_token() {
  auto* token = new Token();
  baton_object_init(token, &kTokenType);
  ++living_objects;
  return token;
}

// What the functions do; set before each call.
struct Script {
  int suspends = 0;
  bool fails = false;
  bool replaces = false;   // its references, as far as its trait allows
  bool scribbles = false;  // leaves nonsense in its baton_call
  auto describe() const {
    return testing::Message() << " suspends " << suspends << (fails ? ", fails" : "") << (replaces ? ", replaces" : "")
                              << (scribbles ? ", scribbles" : "");
  }
};
Script script;

// What a function is called with, and what it saw that it should not have seen.
struct State {
  uint64_t magic = 0x5717e;
  int prepared = 0;
};
struct ExportData {
  const char* name;
  bool leaves_arguments;
  bool is_command;
};
std::string fault;  // the first one
std::atomic<int> looks = 0;
baton_object* awaited = nullptr;

void expect(bool holds, const char* what) {
  if (!holds && fault.empty()) fault = what;
}

void replace(baton_call* call, uint32_t index, baton_object* owned) { baton_call_set_ref(call, index, owned); }

baton_status* finish(baton_call* call, const ExportData& data) {
  if (script.fails) return host_table().status_make(BATON_DATA_LOSS, {"as told", 7});
  if (data.is_command) return nullptr;
  replace(call, 0, script.replaces ? make_token() : (baton_object_retain(call->refs[1]), call->refs[1]));
  call->values[0] = baton_value_of_i32(call->values[0].i32 + looks);
  return nullptr;
}

template <const ExportData& kData>
baton_status* run(baton_call* call) {
  const int look = looks++;
  expect(call->state && static_cast<State*>(call->state)->magic == 0x5717e, "its state is another's");
  expect(call->data == &kData, "its data is another's");
  expect(call->values[0].i32 == 40, "its value is lost");
  expect(call->refs[1] != nullptr, "its reference is lost");
  expect(call->resumed == (look == 0 ? nullptr : awaited), "it is resumed with what it did not wait for");
  baton_status* said = nullptr;
  if (look < script.suspends) {
    if (script.replaces && !kData.leaves_arguments && !kData.is_command) replace(call, 1, make_token());
    call->pending = awaited = make_token();
  } else {
    said = finish(call, kData);
  }
  if (script.scribbles) {
    call->state = call->data = call;
    call->values = nullptr;
    call->refs = nullptr;
    call->segments = nullptr;
  }
  return said;
}

constexpr ExportData kWork = {"work", false, false}, kLeave = {"leave", true, false};
constexpr ExportData kCommand = {"command", false, true}, kLentCommand = {"lent_command", true, true};

constexpr uint64_t kLeaves = BATON_TRAIT_LEAVES_ARGUMENTS;
template <const ExportData& kData>
baton_export exported(const char* signature) {
  return {kData.name, signature, run<kData>, const_cast<ExportData*>(&kData),
          (kData.leaves_arguments ? kLeaves : 0) | (kData.is_command ? BATON_TRAIT_COMMAND : 0)};
}

struct Shape {
  bool has_commands;
  bool prepares;
};

// The module, as a plugin in C would describe it.
struct Described : baton_module_descriptor {
  explicit Described(Shape shape) : baton_module_descriptor{} {
    constexpr const char* kFunction = "r<matrix.token>r<matrix.token>i_r<matrix.token>i";
    all = {exported<kWork>(kFunction), exported<kLeave>(kFunction)};
    if (shape.has_commands) {
      constexpr const char* kRecorded = "r<hal.command_buffer>r<matrix.token>i_v";
      all.push_back(exported<kCommand>(kRecorded));
      all.push_back(exported<kLentCommand>(kRecorded));
    }
    static const baton_object_type* const types_of[] = {&kTokenType};
    struct_size = sizeof(baton_module_descriptor);
    abi_version = BATON_ABI_VERSION;
    name = "matrix";
    export_stride = sizeof(baton_export);
    exports = all.data();
    export_count = all.size();
    types = types_of;
    type_count = 1;
    create_state = [](void*, const baton_allocator*, void** out_state) -> baton_status* {
      *out_state = new State();
      return nullptr;
    };
    destroy_state = [](void*, void* state) { delete static_cast<State*>(state); };
    if (!shape.prepares) return;
    prepare = [](void* state, baton_device*) -> baton_status* {
      ++static_cast<State*>(state)->prepared;
      return nullptr;
    };
  }
  std::vector<baton_export> all;
};

constexpr std::string_view kFunctions = R"(
module @program
import @matrix.work(matrix.token, matrix.token, i32) -> (matrix.token, i32)
import @matrix.leave(matrix.token, matrix.token, i32) -> (matrix.token, i32)
export func @call_work(%a: matrix.token, %b: matrix.token, %n: i32) -> (matrix.token, i32) {
  call.import @matrix.work, %v0, %r0
  return
}
export func @lend_work(%a: matrix.token, %b: matrix.token, %n: i32) -> (matrix.token, i32) {
  call.lend @matrix.work, %v0, %r2, [%r0, %r1]
  ref.move %r0, %r2
  return
}
export func @call_leave(%a: matrix.token, %b: matrix.token, %n: i32) -> (matrix.token, i32) {
  call.import @matrix.leave, %v0, %r0
  return
}
export func @lend_leave(%a: matrix.token, %b: matrix.token, %n: i32) -> (matrix.token, i32) {
  call.lend @matrix.leave, %v0, %r2, [%r0, %r1]
  ref.move %r0, %r2
  return
}
)";
constexpr std::string_view kCommands = R"(
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @matrix.command(hal.command_buffer, matrix.token, i32)
import @matrix.lent_command(hal.command_buffer, matrix.token, i32)
rodata @name = "matrix"
func @begin() -> hal.command_buffer {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 2
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  return
}
export func @call_command(%a: matrix.token, %n: i32) {
  ref.move %r1, %a
  call @begin, %v1, %r2
  ref.move %r0, %r2
  call.import @matrix.command, %v0, %r0
  return
}
export func @lend_command(%a: matrix.token, %n: i32) {
  call @begin, %v1, %r1
  call.lend @matrix.lent_command, %v0, %r2, [%r1, %r0]
  return
}
)";

enum class Way { kInvoke, kResume, kOtherThread, kAbandon, kDrop };
constexpr Way kWays[] = {Way::kInvoke, Way::kResume, Way::kOtherThread, Way::kAbandon, Way::kDrop};

class NativeCallMatrix : public testing::TestWithParam<Shape> {
 protected:
  static std::vector<Ref<const vm::Module>> modules(Described& described) {
    auto module = NativeModule::make(&described);
    EXPECT_OK(module);
    return {hal_module_on({open_device("null")}), *module};
  }
  static std::string text_for(Shape shape) {
    return std::string(kFunctions).append(shape.has_commands ? kCommands : "");
  }

  // Goes on as `way` says until the call is over; what came of it.
  static Status drive(vm::Invocation& invocation, const vm::ExportedFunction& function,
                      std::span<const Value> arguments, std::span<Value> results, Way way) {
    if (way == Way::kInvoke) return invocation.invoke_slots(function, arguments, results);
    BATON_TRY_ASSIGN(Outcome outcome, invocation.begin_slots(function, arguments));
    while (outcome == Outcome::kSuspended) {
      if (way == Way::kAbandon) {
        invocation.abandon();
        return {};
      }
      if (way == Way::kDrop) return {};
      Result<Outcome> resumed = Outcome::kDone;
      if (way == Way::kOtherThread) {
        std::thread([&] { resumed = invocation.resume(); }).join();
      } else {
        resumed = invocation.resume();
      }
      BATON_TRY_ASSIGN(outcome, std::move(resumed));
    }
    return invocation.take_results(results);
  }

  void call(const std::string& name, Way way) {
    SCOPED_TRACE(testing::Message() << name << script.describe() << ", way " << static_cast<int>(way));
    looks = 0;
    awaited = nullptr;
    const bool ends_early = (way == Way::kAbandon || way == Way::kDrop) && script.suspends > 0;
    baton_object* const given[] = {make_token(), make_token()};
    const Value arguments[] = {Value::of(reinterpret_cast<vm::Object*>(given[0])),
                               Value::of(reinterpret_cast<vm::Object*>(given[1])), Value::of(int32_t{40})};
    Value results[2];
    {
      vm::Invocation invocation(program_.context);
      const Status status = drive(invocation, program_.find(name), arguments, results, way);
      if (ends_early) {
        EXPECT_EQ(looks, 1);
      } else if (script.fails) {
        EXPECT_THAT(status.to_string(), testing::StartsWith("DATA_LOSS; as told"));
      } else {
        EXPECT_OK(status);
        EXPECT_EQ(looks, script.suspends + 1);
        EXPECT_EQ(results[1].i32, 40 + script.suspends + 1);
        EXPECT_NE(results[0].ref, nullptr);
      }
    }
    vm::release_object(results[0].ref);
    for (baton_object* object : given) {
      EXPECT_EQ(object->count, 1u);
      baton_object_release(object);
    }
    EXPECT_EQ(living_objects, 0);
    EXPECT_EQ(std::exchange(fault, ""), "");
  }

  void record(const std::string& name, Way way) {
    SCOPED_TRACE(testing::Message() << name << script.describe() << ", way " << static_cast<int>(way));
    looks = 0;
    awaited = nullptr;
    baton_object* const given = make_token();
    const Value arguments[] = {Value::of(reinterpret_cast<vm::Object*>(given)), Value::of(int32_t{40})};
    vm::Invocation invocation(program_.context);
    const std::string said = drive(invocation, program_.find(name), arguments, {}, way).to_string();
    EXPECT_THAT(said, testing::StartsWith(script.suspends > 0 ? "FAILED_PRECONDITION; Command 'matrix."
                                          : script.fails      ? "DATA_LOSS; as told"
                                                              : "OK"));
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(given->count, 1u);
    baton_object_release(given);
    EXPECT_EQ(living_objects, 0);
    EXPECT_EQ(std::exchange(fault, ""), "");
  }

  template <typename Visit>
  static void all_scripts(const Visit& visit) {
    for (int suspends : {0, 1, 3}) {
      for (unsigned bits = 0; bits < 8; ++bits) {
        script = {suspends, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
        visit();
      }
    }
  }

  Described described_{GetParam()};
  LinkedProgram program_{modules(described_), text_for(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Modules, NativeCallMatrix,
                         testing::Values(Shape{false, false}, Shape{false, true}, Shape{true, false},
                                         Shape{true, true}),
                         [](const auto& shape) {
                           return std::string(shape.param.has_commands ? "Commands" : "Functions") +
                                  (shape.param.prepares ? "Prepared" : "");
                         });

TEST_P(NativeCallMatrix, Functions) {
  for (const char* name : {"call_work", "lend_work", "call_leave", "lend_leave", "matrix.work", "matrix.leave"}) {
    for (Way way : kWays) all_scripts([&] { call(name, way); });
  }
}

TEST_P(NativeCallMatrix, Commands) {
  if (!GetParam().has_commands) return;
  for (const char* name : {"call_command", "lend_command"}) {
    for (Way way : {Way::kInvoke, Way::kResume, Way::kOtherThread}) all_scripts([&] { record(name, way); });
  }
}

// Calls of one context that wait at the same time, each with its own registers and one state.
TEST_P(NativeCallMatrix, SeveralWaitAtOnce) {
  script = {.suspends = 1000};  // looks counts for all of them: nobody is resumed until it is lowered
  constexpr int kCalls = 8;
  std::vector<std::unique_ptr<vm::Invocation>> invocations;
  std::vector<baton_object*> gates;
  baton_object* const given = make_token();
  const Value token = Value::of(reinterpret_cast<vm::Object*>(given));
  const Value arguments[] = {token, token, Value::of(int32_t{40})};
  for (int i = 0; i < kCalls; ++i) {
    looks = 0;
    invocations.push_back(std::make_unique<vm::Invocation>(program_.context));
    auto begun = invocations.back()->begin_slots(program_.find(i % 2 == 0 ? "call_work" : "lend_leave"), arguments);
    ASSERT_TRUE(begun && *begun == Outcome::kSuspended);
    gates.push_back(awaited);
  }
  script = {};
  for (int i = kCalls - 1; i >= 0; --i) {
    looks = 1;
    awaited = gates[static_cast<size_t>(i)];
    vm::Invocation& invocation = *invocations[static_cast<size_t>(i)];
    auto resumed = invocation.resume();
    ASSERT_TRUE(resumed && *resumed == Outcome::kDone);
    Value results[2];
    ASSERT_OK(invocation.take_results(results));
    EXPECT_EQ(results[1].i32, 42);
    vm::release_object(results[0].ref);
  }
  invocations.clear();
  EXPECT_EQ(given->count, 1u);
  baton_object_release(given);
  EXPECT_EQ(living_objects, 0);
  EXPECT_EQ(std::exchange(fault, ""), "");
}

}  // namespace
}  // namespace baton::modules
