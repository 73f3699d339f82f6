// Context: the state of one program — globals and what native modules keep. The unit of isolation; one allocation.
// Threads: making and destroying are externally synchronized. Invocations of one context may run on several threads
// only as far as the program's globals and native modules allow; the VM itself shares nothing else between them.
#pragma once

#include "base/allocator.hpp"
#include "base/ref.hpp"
#include "base/result.hpp"
#include "vm/program.hpp"

namespace baton::vm {

class Context;

// What a running function reaches of its module: tables of the program, state of the context.
struct ModuleState {
  const Function* functions;
  const ImportSlot* imports;
  const ObjectType* const* types;
  Value* globals;  // references are retained
  const LinkedModule* linked;
  void* native_state;
  Context* context;
};

// How far the initializers of untrusted modules may go, each of them; 0 for no limit.
struct InitializerLimits {
  uint64_t instructions = 0;
  int64_t deadline_ns = 0;  // as Invocation::set_deadline takes it
};

class Context {
 public:
  // Makes the state, then runs the modules' initializers in order. The allocator must outlive the context and all that
  // its programs make: blobs and lists come from it.
  static Result<Ref<Context>> make(Ref<Program> program, const Allocator& allocator = system_allocator(),
                                   const InitializerLimits& limits = {});

  const Program& program() const { return *program_; }
  const Allocator& allocator() const { return allocator_; }
  ModuleState* module_states() { return states_; }
  Result<ExportedFunction> find_function(std::string_view name) const { return program_->find_function(name); }

  void retain() const { count_.up(); }
  void release() const {
    if (count_.down()) destroy();
  }

 private:
  Context(Ref<Program> program, const Allocator& allocator) : program_(std::move(program)), allocator_(allocator) {}
  ~Context();
  void destroy() const;
  Status make_native_states();
  Status run_initializers(const InitializerLimits& limits);

  Ref<Program> program_;
  Allocator allocator_;
  ModuleState* states_ = nullptr;  // behind this object, in its allocation; globals follow
  size_t native_states_ = 0;       // modules whose native state has been made, from the first
  mutable ReferenceCount count_;
};

}  // namespace baton::vm
