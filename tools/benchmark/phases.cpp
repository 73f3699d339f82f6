#include "tools/benchmark/phases.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <deque>

#include "base/json_text.hpp"
#include "bytecode/verifier.hpp"
#include "hal/commands/barrier.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tools/benchmark/device_row.hpp"
#include "tools/benchmark/samples.hpp"
#include "tools/support/fences.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/invocation.hpp"

namespace baton::tools {
namespace {

// Ends a benchmark that cannot go on; true when it did.
bool stopped(benchmark::State& state, const Status& status) {
  if (status.ok()) return false;
  state.SkipWithError(std::string(status.message()).c_str());
  return true;
}

// The same of what ranks do together: then the rest of that ends, too.
bool stopped(benchmark::State& state, const Subject& subject, const Status& status) {
  subject.is_over |= subject.is_together && !status.ok();
  return stopped(state, status);
}
bool is_over(benchmark::State& state, const Subject& subject) {
  return subject.is_over && stopped(state, failure(StatusCode::kAborted, "an earlier one could not go on"));
}

// A loop with nothing in it but the call.
template <typename Call>
void repeat(benchmark::State& state, const Call& call) {
  for (auto _ : state) {
    const Status status = call();
    if (!status.ok()) [[unlikely]] {
      stopped(state, status);
      return;
    }
  }
}

// The last module given that is a program's: what load and verify are asked about.
const vm::BytecodeModule* main_module(const Subject& subject) {
  for (auto module = subject.modules.rbegin(); module != subject.modules.rend(); ++module) {
    if (const vm::BytecodeModule* bytecode = (*module)->as_bytecode()) return bytecode;
  }
  return nullptr;
}

// A chain of additions and rotations that no compiler shortens.
void reference(benchmark::State& state) {
  uint64_t value = 1;
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
      value = std::rotl(value, 7) + 0x9e3779b97f4a7c15;
      benchmark::DoNotOptimize(value);
    }
  }
}

void verify(benchmark::State& state, std::span<const std::byte> bytes) {
  for (auto _ : state) benchmark::DoNotOptimize(bytecode::verify(bytes));
}

void load(benchmark::State& state, std::span<const std::byte> bytes) {
  for (auto _ : state) {
    Result<bytecode::ModuleBytes> borrowed = bytecode::ModuleBytes::borrow(bytes);
    if (!borrowed && stopped(state, borrowed.error())) return;
    Result<Ref<vm::BytecodeModule>> module = vm::BytecodeModule::load(std::move(*borrowed));
    if (!module && stopped(state, module.error())) return;
  }
}

void link(benchmark::State& state, const Subject& subject) {
  for (auto _ : state) {
    Result<Ref<vm::Program>> program = vm::Program::link(subject.modules);
    if (!program && stopped(state, program.error())) return;
  }
}

void make_context(benchmark::State& state, const Subject& subject) {
  if (is_over(state, subject)) return;
  for (auto _ : state) {
    Result<Ref<vm::Context>> context = vm::Context::make(subject.program, subject.context->allocator());
    if (!context && stopped(state, subject, context.error())) return;
  }
}

Status make_empty_recording(hal::Device& device, Ref<hal::Recording>& recording) {
  BATON_TRY_ASSIGN(auto commands, device.make_command_buffer({.name = "empty"}));
  BATON_TRY(commands->barrier({}));
  BATON_TRY_ASSIGN(recording, commands->finish());
  return {};
}

void launch_floor(benchmark::State& state, hal::Device& device) {
  Ref<hal::Recording> recording;
  if (stopped(state, make_empty_recording(device, recording))) return;
  Result<Ref<hal::Semaphore>> semaphore = device.make_semaphore();
  if (!semaphore && stopped(state, semaphore.error())) return;
  uint64_t point = 0;
  for (auto _ : state) {
    const hal::SemaphorePoint signal(*semaphore, ++point);
    if (stopped(state, device.queue().execute({.signals = {&signal, 1}}, *recording))) return;
    if (stopped(state, (*semaphore)->wait(point))) return;
  }
}

void first_call(benchmark::State& state, const Subject& subject, const BenchmarkedFunction& function) {
  if (is_over(state, subject)) return;
  for (auto _ : state) {
    Result<Ref<vm::Context>> context = vm::Context::make(subject.program, subject.context->allocator());
    if (!context && stopped(state, subject, context.error())) return;
    vm::Invocation invocation(*context);
    Caller caller(invocation, subject, function);
    const int64_t begin_ns = vm::monotonic_clock_ns();
    const Status status = caller.call(1);
    const int64_t end_ns = vm::monotonic_clock_ns();
    if (stopped(state, subject, status)) return;
    state.SetIterationTime(static_cast<double>(end_ns - begin_ns) * 1e-9);
  }
}

void steady_call(benchmark::State& state, const Subject& subject, const BenchmarkedFunction& function) {
  if (is_over(state, subject)) return;
  vm::Invocation invocation(subject.context);
  // Warm: what the first calls record, load or allocate is not asked for here.
  Caller caller(invocation, subject, function);
  if (stopped(state, subject, caller.call(std::max<uint64_t>(subject.batch_size, 2)))) return;
  if (subject.batch_size == 1 && caller.is_plain() && !subject.is_together) return caller.measure(state);
  for (auto _ : state) {
    const Status status = caller.call(subject.batch_size);
    if (!status.ok()) [[unlikely]] {
      stopped(state, subject, status);
      return;
    }
  }
  if (subject.batch_size > 1) {
    state.counters["call_ns"] =
        benchmark::Counter(static_cast<double>(subject.batch_size) / 1e9,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
}

// A function's calls, one at a time.
class CalledWork final : public DeviceWork {
 public:
  CalledWork(const Subject& subject, const BenchmarkedFunction& function)
      : invocation_(subject.context), caller_(invocation_, subject, function) {}
  Status run() override { return caller_.call(1); }

 private:
  vm::Invocation invocation_;
  Caller caller_;
};

// Ranks do as much as each other: they meet in what they call.
void limit(benchmark::internal::Benchmark& row, const Subject& subject) {
  if (subject.iterations != 0) row.Iterations(static_cast<int64_t>(subject.iterations));
}

void register_on_device(const Subject& subject, const BenchmarkedFunction& function) {
  const int64_t iterations = [&] {
    CalledWork work(subject, function);
    return device_iterations(subject.devices, work);
  }();
  if (iterations == 0) return;
  const std::string name = as_utf8(text(function.function.name, ".on_device"));
  benchmark::RegisterBenchmark(name.c_str(),
                               [&subject, &function](benchmark::State& state) {
                                 CalledWork work(subject, function);
                                 measure_on_device(state, subject.devices, work);
                               })
      ->UseManualTime()
      ->Iterations(iterations);
}

}  // namespace

Caller::Caller(vm::Invocation& invocation, const Subject& subject, const BenchmarkedFunction& called)
    : invocation_(invocation), subject_(subject), called_(called), arguments_(called.arguments) {
  const bytecode::SignatureShape& shape = called.function.shape;
  results_.resize(size_t{shape.result_values} + shape.result_refs);
  if (called.takes_fences) arguments_.resize(arguments_.size() + 2);
}

// A call of the empty program takes 10 ns, of which this may add 2 %: everything in locals, nothing but the call in the
// loop (bench/benchmark_module).
void Caller::measure(benchmark::State& state) {
  vm::Invocation& invocation = invocation_;
  const vm::ExportedFunction function = called_.function;
  const std::span<const vm::Value> arguments = arguments_;
  const std::span<vm::Value> results = results_;
  if (!arguments.empty() || !results.empty()) {
    return repeat(state, [&] { return invocation.invoke_slots(function, arguments, results); });
  }
  repeat(state, [&] { return invocation.invoke(function, {}, {}); });  // The compiler knows that there is nothing.
}

// At most `batch_concurrency` calls are begun and not done.
Status Caller::call_with_fences(uint64_t calls) {
  vm::Value* const fence_arguments = &arguments_[arguments_.size() - 2];
  std::deque<CallFences> in_flight;
  for (uint64_t i = 0; i < calls; ++i) {
    if (in_flight.size() == subject_.batch_concurrency) {
      BATON_TRY(in_flight.front().await(0));
      in_flight.pop_front();
    }
    BATON_TRY_ASSIGN(CallFences fences, CallFences::make(subject_.devices));
    fence_arguments[0] = fences.wait();
    fence_arguments[1] = fences.signal();
    BATON_TRY(invocation_.invoke_slots(called_.function, arguments_, results_));
    release_results(called_.function.signature, results_);
    in_flight.push_back(std::move(fences));
  }
  for (const CallFences& fences : in_flight) BATON_TRY(fences.await(0));
  return {};
}

void register_reference() { benchmark::RegisterBenchmark(kReference, reference); }

void register_floor(hal::Device& device) {
  benchmark::RegisterBenchmark(("device.floor/" + device.name()).c_str(), [&device](benchmark::State& state) {
    launch_floor(state, device);
  })->UseRealTime();
}

void register_preparation(const Subject& subject) {
  register_reference();
  if (const vm::BytecodeModule* module = main_module(subject)) {
    const std::span<const std::byte> bytes = module->view().bytes();
    benchmark::RegisterBenchmark("module.load", [bytes](benchmark::State& state) { load(state, bytes); });
    benchmark::RegisterBenchmark("module.verify", [bytes](benchmark::State& state) { verify(state, bytes); });
  }
  benchmark::RegisterBenchmark("program.link", [&subject](benchmark::State& state) { link(state, subject); });
  limit(*benchmark::RegisterBenchmark("context.make",
                                      [&subject](benchmark::State& state) { make_context(state, subject); }),
        subject);
  for (const Ref<hal::Device>& device : subject.devices) register_floor(*device);
}

void register_function(const Subject& subject, const BenchmarkedFunction& function) {
  const std::string name = as_utf8(function.function.name);
  auto* first =
      benchmark::RegisterBenchmark((name + ".first_call").c_str(), [&subject, &function](benchmark::State& state) {
        first_call(state, subject, function);
      })->UseManualTime();
  limit(*first, subject);
  auto* steady = benchmark::RegisterBenchmark(
      name.c_str(), [&subject, &function](benchmark::State& state) { steady_call(state, subject, function); });
  limit(*steady, subject);
  if (subject.devices.empty()) return;
  steady->UseRealTime();                // Others than this thread work for it.
  if (subject.iterations != 0) return;  // How often the device does it would depend on the rank.
  register_on_device(subject, function);
}

}  // namespace baton::tools
