// Verified programs run: under budgets, on small stacks, suspended, resumed and abandoned, with native functions that
// wait and fail. Whatever they do, memory stays whole and nothing is left over.
//
// The first byte says what the others are. Even: a module file, which the gate may refuse. Odd: choices from which
// program_generator.cpp writes a program that the gate accepts.
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "bytecode/assembler.hpp"
#include "program_generator.hpp"
#include "tests/support/native_test_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

using namespace baton;
using namespace baton::vm;
using baton::vm::testing::NativeTestModule;
using baton::vm::testing::set_ref;

// Rings of lists live on (list.hpp), so what is left over is counted here and not by the sanitizer. A program may ask
// for more memory than there is.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0:allocator_may_return_null=1"; }

namespace {

// Where programs and native functions take memory: bounded, and it knows what was not given back.
class Pool {
 public:
  ~Pool() {
    for (void* memory : living_) system_allocator().free(memory);
  }
  Allocator allocator() {
    return {.self = this,
            .allocate_bytes = [](void* self, size_t size, size_t alignment, int zeroed) -> void* {
              return static_cast<Pool*>(self)->allocate(size, alignment, zeroed);
            },
            .free_bytes =
                [](void* self, void* memory) {
                  BATON_CHECK(static_cast<Pool*>(self)->living_.erase(memory) == 1);
                  system_allocator().free(memory);
                }};
  }
  bool is_empty() const { return living_.empty(); }

 private:
  static constexpr size_t kBytesMax = size_t{32} << 10;  // of one allocation: keeps fills and hashes of it short
  static constexpr size_t kAllocationsMax = 4096;
  // But initializers run on a stack of the default size, which is the host's to give.
  static constexpr InvocationOptions kStack{};
  static constexpr size_t kStackBytes =
      sizeof(Value) * kStack.stack_values + sizeof(Object*) * kStack.stack_refs + sizeof(Frame) * kStack.stack_frames;

  void* allocate(size_t size, size_t alignment, int zeroed) {
    if ((size > kBytesMax && size != kStackBytes) || living_.size() >= kAllocationsMax) return nullptr;
    void* memory = system_allocator().allocate_bytes(nullptr, size, alignment, zeroed);
    living_.insert(memory);
    return memory;
  }

  std::unordered_set<void*> living_;
};

// An object of the native module; a gate is one that opens after it was looked at a few times.
struct Token : Object {
  static const ObjectType kType;
  static const ObjectType kGateType;

  static Token* make(Pool& pool, const ObjectType* type, int32_t looks) {
    const Allocator allocator = pool.allocator();
    void* memory = allocator.allocate_bytes(allocator.self, sizeof(Token), alignof(Token), 0);
    return memory ? new (memory) Token(pool, type, looks) : nullptr;
  }
  static void destroy(Object* object) {
    auto* token = static_cast<Token*>(object);
    token->pool.allocator().free(token);
  }
  static int32_t wait(Object* object, int64_t /*timeout_ns*/) {
    auto* gate = static_cast<Token*>(object);
    return gate->looks-- > 0 ? kStillPending : gate->looks & 15;
  }

  Pool& pool;
  int32_t looks;

 private:
  Token(Pool& of_pool, const ObjectType* object_type, int32_t count)
      : Object(object_type), pool(of_pool), looks(count) {}
};
const ObjectType Token::kType = {.name = "token", .destroy = destroy};
const ObjectType Token::kGateType = {.name = "gate", .destroy = destroy, .wait = wait};

Token* as_gate(Object* object) {
  return object && object->type == &Token::kGateType ? static_cast<Token*>(object) : nullptr;
}

Status::Failure* make_token(NativeCall* call) {
  set_ref(call, 0, Token::make(*static_cast<Pool*>(call->data), &Token::kType, 0));
  return nullptr;
}
Status::Failure* make_gate(NativeCall* call) {
  set_ref(call, 0, Token::make(*static_cast<Pool*>(call->data), &Token::kGateType, call->values[0].i32 & 7));
  return nullptr;
}
Status::Failure* nothing(NativeCall*) { return nullptr; }
Status::Failure* mix(NativeCall* call) {
  set_ref(call, 0, nullptr);
  call->values[0] = Value::of(static_cast<float>(call->values[1].i64));
  call->values[1] = Value::of(1.5);
  return nullptr;
}
Status::Failure* pass(NativeCall* call) {
  Token* gate = as_gate(call->refs[0]);
  if (gate && Token::wait(gate, 0) == kStillPending) {
    gate->retain();
    call->pending = gate;
    return nullptr;
  }
  return nullptr;
}
Status::Failure* fail(NativeCall* call) {
  if (!call->refs[0]) return nullptr;
  call->refs[0]->retain();
  call->pending = call->refs[0];
  return failure(StatusCode::kAborted, "failed").release();
}
Status::Failure* variadic(NativeCall* call) {
  call->values[0] = Value::of(call->values[0].i32 ^ call->segments[0]);
  for (int i = 0; i < call->segments[0]; ++i) call->values[0].i32 ^= call->refs[i] != nullptr;
  return nullptr;
}

Ref<NativeTestModule> make_native(Pool& pool, std::string_view name) {
  auto native = make_ref<NativeTestModule>(std::string(name));
  native->add_type(&Token::kType);
  native->add_type(&Token::kGateType);
  native->add("token", "v_r<token>", make_token, &pool);
  native->add("gate", "i_r<gate>", make_gate, &pool);
  native->add("take", "rr_v", nothing);
  native->add_leaving("same", "rr_r", nothing);
  native->add("mix", "iIr_rfF", mix);
  native->add_leaving("pass", "r<gate>r_i", pass);
  native->add_leaving("fail", "r_r", fail);
  native->add_leaving("variadic", "iCrD_i", variadic);
  native->add_leaving("pass_all", "r<gate>CriD_r", pass);
  return native;
}

// Bytecode between a program and the native module: what the program calls, and lends to, is another module's, which
// calls on and may be suspended in its own frame.
constexpr std::string_view kRelay = R"(
module @native
import @inner.token() -> token
import @inner.gate(i32) -> gate
import @inner.take(ref, ref)
import @inner.same(ref, ref) -> ref
import @inner.mix(i32, i64, ref) -> (ref, f32, f64)
import @inner.pass(gate, ref) -> i32
import @inner.fail(ref) -> ref
export func @token() -> token { call.import @inner.token, %v0, %r0
 return }
export func @gate(%n: i32) -> gate { call.import @inner.gate, %v0, %r0
 return }
export func @take(%a: ref, %b: ref) { call.import @inner.take, %v0, %r0
 return }
export func @same(%a: ref, %b: ref) -> ref {
  call.lend @inner.same, %v0, %r2, [%a, %b]
  return
}
export func @mix(%a: i32, %b: i64, %c: ref) -> (ref, f32, f64) { call.import @inner.mix, %v0, %r0
 return }
export func @pass(%g: gate, %a: ref) -> i32 {
  call.lend @inner.pass, %v0, %r2, [%g, %a]
  return
}
export func @fail(%a: ref) -> ref { call.import @inner.fail, %v0, %r0
 return }
)";

Ref<const Module> make_relay() {
  static const std::vector<std::byte> bytes = *bytecode::assemble(kRelay);
  return *BytecodeModule::load(bytecode::ModuleBytes::copy(bytes));
}

// One call from beginning to end, or to where it is given up.
void run_export(Invocation& invocation, const ExportedFunction& function) {
  constexpr int kResumesMax = 16;
  invocation.set_instruction_budget(20'000);
  const std::vector<Value> arguments(size_t{function.shape.argument_values} + function.shape.argument_refs);
  Result<Invocation::Outcome> outcome = invocation.begin_slots(function, arguments);
  for (int i = 0; outcome && *outcome == Invocation::Outcome::kSuspended; ++i) {
    if (i == kResumesMax) return invocation.abandon();
    outcome = invocation.resume();
  }
  if (!outcome) return;
  std::vector<Value> results(size_t{function.shape.result_values} + function.shape.result_refs);
  if (results.size() % 3 == 2) return;  // Nobody takes them.
  BATON_CHECK(invocation.take_results(results).ok());
  bytecode::SignatureCursor cursor(bytecode::results_of(function.signature));
  for (const Value& result : results) {
    cursor.next();
    if (bytecode::is_ref(cursor.type())) release_object(result.ref);
  }
}

void run_program(Pool& pool, Ref<const Module> module, bool relayed) {
  constexpr uint32_t kExportsMax = 16;
  std::vector<Ref<const Module>> modules = {make_native(pool, relayed ? "inner" : "native")};
  if (relayed) modules.push_back(make_relay());
  modules.push_back(std::move(module));
  const auto last = static_cast<uint32_t>(modules.size() - 1);
  const Result<Ref<Program>> program = Program::link(modules);
  if (!program) return;
  const Result<Ref<Context>> context = Context::make(*program, pool.allocator(), {.instructions = 20'000});
  if (!context) return;
  Invocation invocation(*context, {.stack_values = 512, .stack_refs = 256, .stack_frames = 40});
  const uint32_t exports = modules[last]->export_count();
  for (uint32_t i = 0; i < exports && i < kExportsMax; ++i)
    run_export(invocation, (*program)->exported_function(last, i));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool is_file = data[0] % 2 == 0;
  const std::span rest(data + 1, size - 1);
  fuzz::GeneratedProgram generated;
  if (!is_file) generated = fuzz::generate_program(rest);
  Pool pool;
  {
    Result<Ref<BytecodeModule>> module = BytecodeModule::load(
        bytecode::ModuleBytes::copy(is_file ? std::as_bytes(rest) : std::span<const std::byte>(generated.bytes)));
    if (!module) {
      BATON_CHECK(is_file && "a generated program was refused");
      return 0;
    }
    run_program(pool, *std::move(module), (data[0] & 2) != 0);
  }
  BATON_CHECK(is_file || generated.may_build_rings || pool.is_empty());
  return 0;
}
