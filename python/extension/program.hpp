// Program: linked modules and their state. Function: one of its exports, ready to be called.
//
// A call converts its arguments, gives Python's lock up while the program runs, and converts the results. Calls from
// several threads, and calls that a function of Python makes while it is called, run in invocations of their own.
// Python's collector sees through both classes: the functions of Python that a program imports are kept by a list that
// each of them holds.
// Threads: with Python's lock.
#pragma once

#include <memory>
#include <vector>

#include "python/extension/values.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::python {

struct Limits {
  int64_t timeout_ns = 0;  // Of each call; 0: none.
  uint64_t instructions = 0;
};

class LoadedProgram final : public RefCounted<LoadedProgram> {
 public:
  LoadedProgram(Ref<vm::Context> context, std::vector<Ref<OpenDevice>> devices, const Limits& limits);

  vm::Context& context() const { return *context_; }
  std::span<const Ref<OpenDevice>> devices() const { return devices_; }
  const Limits& limits() const { return limits_; }
  // Of what its arguments are copied to.
  uint64_t memory_owner() const { return memory_owner_; }
  Status check_usable() const;

  std::unique_ptr<vm::Invocation> take_invocation();
  void give_back(std::unique_ptr<vm::Invocation> invocation) { idle_.push_back(std::move(invocation)); }

  // One that knows the program's names already, where there is one for this timeline.
  std::unique_ptr<vm::TimelineTracer> take_tracer(Timeline& timeline) {
    if (std::exchange(traced_, &timeline) != &timeline) idle_tracers_.clear();
    if (idle_tracers_.empty()) return std::make_unique<vm::TimelineTracer>(timeline);
    std::unique_ptr<vm::TimelineTracer> tracer = std::move(idle_tracers_.back());
    idle_tracers_.pop_back();
    return tracer;
  }
  void give_back(Timeline& timeline, std::unique_ptr<vm::TimelineTracer> tracer) {
    if (traced_ == &timeline) idle_tracers_.push_back(std::move(tracer));
  }

 private:
  std::vector<Ref<OpenDevice>> devices_;  // Outlive the context.
  Ref<vm::Context> context_;
  Limits limits_;
  const uint64_t memory_owner_ = hal::MemoryOwner::make();
  std::vector<std::unique_ptr<vm::Invocation>> idle_;
  Timeline* traced_ = nullptr;  // Whose the tracers are.
  std::vector<std::unique_ptr<vm::TimelineTracer>> idle_tracers_;
};

// Drops a program without the lock. Needs the lock.
void release_program(Ref<LoadedProgram> program);

struct Program {
  nb::object callables;  // What the program's modules borrow.
  Ref<LoadedProgram> loaded;
  Program(nb::object kept, Ref<LoadedProgram> program) : callables(std::move(kept)), loaded(std::move(program)) {}
  Program(Program&&) = default;
  ~Program() { release_program(std::move(loaded)); }
};

void bind_programs(nb::module_& module);

}  // namespace baton::python
