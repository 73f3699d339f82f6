// Functions that are called with fences: abi.model = coarse-fences says that the last two parameters are one to wait
// for and one to signal.
#pragma once

#include <span>

#include "base/result.hpp"
#include "hal/device.hpp"
#include "hal/fence.hpp"
#include "vm/program.hpp"

namespace baton::tools {

bool takes_fences(const vm::Program& program, const vm::ExportedFunction& function);

// The two arguments of one call: nothing to wait for, and a fence that is awaited afterwards.
// Threads: a local variable.
class CallFences {
 public:
  static Result<CallFences> make(std::span<const Ref<hal::Device>> devices);
  CallFences(CallFences&& other) noexcept;
  CallFences& operator=(CallFences&&) = delete;
  ~CallFences();

  // Borrowed, in the order of the parameters.
  vm::Value wait() const { return vm::Value(); }
  vm::Value signal() const { return vm::Value::of(signal_); }
  // Until the work is done, or the deadline of the monotonic clock has come (0 for none).
  Status await(int64_t deadline_ns) const;

 private:
  CallFences(Ref<hal::Fence> fence, vm::Object* signal) : fence_(std::move(fence)), signal_(signal) {}

  Ref<hal::Fence> fence_;
  vm::Object* signal_;
};

}  // namespace baton::tools
