// What a custom command costs to record, beside the same dispatch and barrier recorded by the program itself and by
// C++: through the VM and the door, into a recording of 1000, made and dropped.
#include <benchmark/benchmark.h>

#include <optional>

#include "bench/hal/fixture.hpp"
#include "bytecode/assembler.hpp"
#include "hal/executable_registry.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::bench {
namespace {

constexpr int32_t kCommands = 1000;

class Custom final : public sdk::Module<Custom> {
 public:
  Status prepare(Device& device) {
    BATON_ASSIGN_OR_RETURN(kernels_, device.lookup_executable("bench"));
    return {};
  }
  Status nothing(CommandBuffer&) { return {}; }
  Status pair(CommandBuffer& rec, Binding<const float> x, Binding<float> y) {
    BATON_OR_RETURN(rec.dispatch(*kernels_, kDoNothing, {1}, sdk::constants(1), {x, y}));
    return rec.barrier();
  }
  Status host(CommandBuffer& rec, Binding<const float> x, Binding<float> y) {
    return rec.host([](std::span<const float>, std::span<float>) {}, x, y);
  }

 private:
  Ref<sdk::Executable> kernels_;
};

BATON_MODULE_QUERY(query_bench_custom, Custom, "custom", BATON_COMMAND("nothing", &Custom::nothing),
                   BATON_COMMAND("pair", &Custom::pair, kCaptureSafe), BATON_COMMAND("host", &Custom::host, kHostOnly));

// One recording of `count` commands on slots 0 and 1.
constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.executable.lookup(hal.device, blob) -> hal.executable
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.dispatch(hal.command_buffer, hal.executable, i32, i32, i32, i32, (i32)..., (i64, hal.buffer, i64, i64)...)
import @hal.command_buffer.barrier(hal.command_buffer)
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @custom.nothing(hal.command_buffer)
import @custom.pair(hal.command_buffer, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
import @custom.host(hal.command_buffer, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
rodata @name = "bench"
func @begin() -> hal.command_buffer {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 2
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  return
}
export func @builtin(%count: i32) -> hal.recording {
  const.i64 %v1, 0
  call.import @hal.devices.get, %v1, %r1
  rodata %r2, @name
  call.import @hal.executable.lookup, %v1, %r1
  call @begin, %v1, %r2
  ref.move %r0, %r2
again:
  ref.copy %r2, %r0
  ref.copy %r3, %r1
  ref.null %r4
  ref.null %r5
  const.i32 %v1, 0
  const.i32 %v2, 1
  const.i32 %v3, 1
  const.i32 %v4, 1
  const.i32 %v5, 1
  const.i64.wide %v6, 0x100000000
  const.i64 %v7, 0
  const.i64 %v8, 64
  const.i64 %v9, 1
  const.i64 %v10, 0
  const.i64 %v11, 64
  call.variadic @hal.command_buffer.dispatch, %v1, %r2, [1, 2]
  ref.copy %r2, %r0
  call.import @hal.command_buffer.barrier, %v1, %r2
  add.imm.i32 %count, %count, -1
  br.ne.imm.i32 %count, 0, again
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @nothing(%count: i32) -> hal.recording {
  call @begin, %v1, %r0
again:
  ref.copy %r1, %r0
  call.import @custom.nothing, %v1, %r1
  add.imm.i32 %count, %count, -1
  br.ne.imm.i32 %count, 0, again
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @pair(%count: i32) -> hal.recording {
  call @begin, %v1, %r0
again:
  ref.copy %r1, %r0
  ref.null %r2
  ref.null %r3
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 64
  const.i64 %v4, 1
  const.i64 %v5, 0
  const.i64 %v6, 64
  call.import @custom.pair, %v1, %r1
  add.imm.i32 %count, %count, -1
  br.ne.imm.i32 %count, 0, again
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @host(%count: i32) -> hal.recording {
  call @begin, %v1, %r0
again:
  ref.copy %r1, %r0
  ref.null %r2
  ref.null %r3
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 64
  const.i64 %v4, 1
  const.i64 %v5, 0
  const.i64 %v6, 64
  call.import @custom.host, %v1, %r1
  add.imm.i32 %count, %count, -1
  br.ne.imm.i32 %count, 0, again
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
)";

class Program {
 public:
  explicit Program(std::string_view device) : fixture_(device) {
    constexpr std::string_view name = "bench";
    auto executables = std::make_shared<hal::ExecutableRegistry>();
    expect(executables->add(name, "static-library", std::as_bytes(std::span(name))));
    const auto bytes = expect(bytecode::assemble(kProgram));
    const Ref<const vm::Module> modules[] = {
        expect(modules::make_hal_module({.devices = {fixture_.device}, .executables = std::move(executables)})),
        expect(modules::NativeModule::make(query_bench_custom)),
        Ref<const vm::Module>(expect(vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes))))};
    context_ = expect(vm::Context::make(expect(vm::Program::link(modules))));
    invocation_.emplace(context_);
  }

  // What a call of `function` records; the recording goes with the handle.
  uint32_t record(const vm::ExportedFunction& function) {
    const vm::TypedValue count = kCommands;
    vm::Value result;
    expect(invocation_->invoke(function, {&count, 1}, {&result, 1}));
    const auto handle = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(result.ref));
    return modules::unwrap<hal::Recording>(handle.get())->command_count();
  }
  vm::ExportedFunction find(std::string_view name) { return expect(context_->find_function(name)); }

 private:
  Fixture fixture_;
  Ref<vm::Context> context_;
  std::optional<vm::Invocation> invocation_;
};

void record(benchmark::State& state, const char* device, const char* name, uint32_t commands) {
  Program program(device);
  const vm::ExportedFunction function = program.find(name);
  if (program.record(function) != commands) return state.SkipWithError("The recording has other commands.");
  for (auto _ : state) program.record(function);
}
BENCHMARK_CAPTURE(record, program_null, "null", "builtin", 2 * kCommands);
BENCHMARK_CAPTURE(record, custom_null, "null", "pair", 2 * kCommands);
BENCHMARK_CAPTURE(record, program_local, "local-sync", "builtin", 2 * kCommands);
BENCHMARK_CAPTURE(record, custom_local, "local-sync", "pair", 2 * kCommands);
BENCHMARK_CAPTURE(record, nothing_local, "local-sync", "nothing", 0);
BENCHMARK_CAPTURE(record, host_local, "local-sync", "host", kCommands);

void record_in_cpp(benchmark::State& state, const char* device) {
  const Fixture fixture(device);
  for (auto _ : state) fixture.record_pairs(kCommands, true);
}
BENCHMARK_CAPTURE(record_in_cpp, null, "null");
BENCHMARK_CAPTURE(record_in_cpp, local, "local-sync");

}  // namespace
}  // namespace baton::bench
