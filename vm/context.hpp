// Context: the state of one program — globals and what native modules keep. The unit of isolation; one allocation.
// Threads: making and destroying are externally synchronized. Invocations of one context may run on several threads at
// once, as far as native modules allow it and unless calls change references that they share: then one thread at a time
// may, and another's call is refused. Numbers in globals are each read and written as a whole.
#pragma once

#include <atomic>

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

// How far the initializers of untrusted modules may go; 0 for no limit.
struct InitializerLimits {
  uint64_t instructions = 0;                     // of each
  int64_t deadline_ns = 0;                       // as Invocation::set_deadline takes it
  const std::atomic<bool>* cancelled = nullptr;  // ends them when another thread sets it
  class Tracer* tracer = nullptr;                // hears of their instructions
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

  // Where calls change what they share (Program::changes_shared()), one thread at a time may run them: whether this one
  // may now. Leave after each enter that said yes.
  bool takes_turns() const { return takes_turns_; }
  bool enter();
  void leave();

  void retain() const { count_.up(); }
  void release() const {
    if (count_.down()) destroy();
  }

 private:
  Context(Ref<Program> program, const Allocator& allocator)
      : program_(std::move(program)), allocator_(allocator), takes_turns_(program_->changes_shared() != nullptr) {}
  ~Context();
  void destroy() const;
  // Of the thread that has the turn: it stands for itself by an address; null: nobody's. And how many calls of that
  // thread are inside each other.
  struct Turn {
    std::atomic<const void*> thread{nullptr};
    uint32_t depth = 0;
  };
  Turn& turn();
  Status make_native_states();
  Status run_initializers(const InitializerLimits& limits);

  Ref<Program> program_;
  Allocator allocator_;
  ModuleState* states_ = nullptr;  // behind this object, in its allocation; globals follow
  size_t native_states_ = 0;       // modules whose native state has been made, from the first
  mutable ReferenceCount count_;
  const bool takes_turns_;  // a Turn then follows the globals
};

}  // namespace baton::vm
