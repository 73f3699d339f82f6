// The benchmarks of a program: what it costs to get it ready, phase by phase, and what its functions cost to call.
//
//   machine.reference            work of ours that never changes: what the machine is worth just now
//   module.load, module.verify   bytes → a module that can be linked; of it, the check
//   program.link                 modules → a program
//   context.make                 a program's state; runs initializers
//   device.floor                 an empty recording, executed and waited for: what no call that uses the device beats
//   <function>.first_call        in a fresh context
//   <function>                   warm
//   <function>.on_device         of a call, how long devices were at work; where they are, and have a clock
//
// They are registered with Google Benchmark and borrow the subject until they have run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "hal/device.hpp"
#include "tools/support/results.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace benchmark {
class State;
}

namespace baton::tools {

// One function with the arguments that it is called with.
struct BenchmarkedFunction {
  vm::ExportedFunction function;
  std::vector<vm::Value> arguments;  // Without the fences of coarse-fences functions.
  bool takes_fences = false;
};

struct Subject {
  std::vector<Ref<const vm::Module>> modules;  // Also the built-in ones.
  std::vector<Ref<hal::Device>> devices;
  Ref<vm::Program> program;
  Ref<vm::Context> context;
  std::vector<BenchmarkedFunction> functions;
  uint64_t batch_size = 1;         // Calls in one iteration.
  uint64_t batch_concurrency = 1;  // Of them, how many may be in flight: only for functions that take fences.
  uint64_t iterations = 0;         // Of what runs the program; 0: as many as it takes.
  // Something failed, and what other ranks run with this one is not run any more: each of it would wait for them.
  mutable bool is_over = false;
  bool is_together = false;  // With other ranks.
};

// Calls a function again and again; each call() returns when its work is done. What a call needs is made once.
class Caller {
 public:
  Caller(vm::Invocation& invocation, const Subject& subject, const BenchmarkedFunction& called);

  // Nothing but the call: no fences to make, no references to give back.
  bool is_plain() const { return !called_.takes_fences && called_.function.shape.result_refs == 0; }
  // The loop of a plain function's steady call.
  void measure(benchmark::State& state);

  Status call(uint64_t calls) {
    if (called_.takes_fences) return call_with_fences(calls);
    for (uint64_t i = 0; i < calls; ++i) {
      BATON_TRY(invocation_.invoke_slots(called_.function, arguments_, results_));
      if (called_.function.shape.result_refs != 0) release_results(called_.function.signature, results_);
    }
    return {};
  }

 private:
  Status call_with_fences(uint64_t calls);

  vm::Invocation& invocation_;
  const Subject& subject_;
  const BenchmarkedFunction& called_;
  std::vector<vm::Value> arguments_;
  std::vector<vm::Value> results_;
};

void register_reference();
// An empty recording, executed and waited for. The device stays until the benchmarks have run.
void register_floor(hal::Device& device);
void register_preparation(const Subject& subject);
// Calls the function a few times first, to find out whether it uses devices.
void register_function(const Subject& subject, const BenchmarkedFunction& function);

}  // namespace baton::tools
