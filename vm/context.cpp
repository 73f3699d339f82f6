#include "vm/context.hpp"

#include <new>

#include "vm/invocation.hpp"

namespace baton::vm {

Result<Ref<Context>> Context::make(Ref<Program> program, const Allocator& allocator, const InitializerLimits& limits) {
  const std::span<const LinkedModule> modules = program->modules();
  const size_t globals_offset = sizeof(Context) + sizeof(ModuleState) * modules.size();
  // Not zeroed: each state and each global is written below. (calloc leaves the quick lists of glibc's malloc unused.)
  const size_t turn_bytes = program->changes_shared() ? sizeof(Turn) : 0;
  void* memory = allocator.allocate(globals_offset + sizeof(Value) * program->globals_size() + turn_bytes);
  auto* globals = reinterpret_cast<Value*>(static_cast<std::byte*>(memory) + globals_offset);
  Ref<Context> context = Ref<Context>::adopt(new (memory) Context(std::move(program), allocator));
  context->states_ = reinterpret_cast<ModuleState*>(context.get() + 1);
  for (size_t i = 0; i < modules.size(); ++i) {
    const LinkedModule& linked = modules[i];
    context->states_[i] = {.functions = linked.functions,
                           .imports = linked.imports,
                           .types = linked.types,
                           .globals = globals + linked.globals_begin,
                           .linked = &linked,
                           .native_state = nullptr,
                           .context = context.get()};
    for (uint32_t g = 0; g < linked.global_count; ++g) {
      context->states_[i].globals[g].bits = linked.bytecode->view().global(g).initial;
    }
  }
  if (turn_bytes != 0) new (&context->turn()) Turn();
  BATON_TRY(context->make_native_states());
  BATON_TRY(context->run_initializers(limits));
  return context;
}

Status Context::make_native_states() {
  for (size_t i = 0; i < program_->modules().size(); ++i) {
    const Module& module = *program_->modules()[i].module;
    if (module.as_bytecode()) continue;
    Result<void*> state = module.make_state(allocator_);
    if (!state)
      return std::move(state).error().with_context(text("while making the state of module '", module.name(), "'"));
    states_[i].native_state = *state;
    native_states_ = i + 1;
  }
  return {};
}

Status Context::run_initializers(const InitializerLimits& limits) {
  for (uint32_t i = 0; i < program_->modules().size(); ++i) {
    const LinkedModule& linked = program_->modules()[i];
    if (!linked.bytecode || linked.bytecode->view().initializer() == bytecode::kNoIndex) continue;
    const ExportedFunction initializer{.module = i,
                                       .export_index = bytecode::kNoIndex,
                                       .body = linked.functions + linked.bytecode->view().initializer(),
                                       .native = {},
                                       .name = "initializer",
                                       .signature = "v_v",
                                       .shape = {}};
    // The invocation borrows the context that is being made; nothing of it stays behind.
    Invocation invocation(Ref<Context>(this));
    invocation.set_instruction_budget(limits.instructions);
    invocation.set_deadline(limits.deadline_ns);
    invocation.watch(limits.cancelled);
    invocation.set_tracer(limits.tracer);
    BATON_TRY_CONTEXT(invocation.invoke(initializer, {}, {}), "while initializing module '", linked.module->name(),
                      "'");
  }
  return {};
}

Context::Turn& Context::turn() {
  auto* const globals = reinterpret_cast<Value*>(states_ + program_->modules().size());
  return *reinterpret_cast<Turn*>(globals + program_->globals_size());
}

bool Context::enter() {
  static thread_local char here;
  Turn& own = turn();
  if (own.thread.load(std::memory_order_relaxed) == &here) {
    ++own.depth;
    return true;
  }
  const void* nobody = nullptr;
  if (!own.thread.compare_exchange_strong(nobody, &here, std::memory_order_acquire)) return false;
  own.depth = 1;
  return true;
}

void Context::leave() {
  if (--turn().depth == 0) turn().thread.store(nullptr, std::memory_order_release);
}

Context::~Context() {
  const std::span<const LinkedModule> modules = program_->modules();
  // Globals first: they may hold objects of native modules.
  for (size_t i = 0; i < modules.size(); ++i) {
    for (uint32_t g = 0; g < modules[i].global_count; ++g) {
      if (bytecode::is_ref(modules[i].bytecode->view().global(g).type)) release_object(states_[i].globals[g].ref);
    }
  }
  for (size_t i = native_states_; i-- > 0;) {
    if (!modules[i].bytecode) modules[i].module->destroy_state(states_[i].native_state);
  }
}

void Context::destroy() const {
  const Allocator allocator = allocator_;
  this->~Context();
  allocator.free(const_cast<Context*>(this));
}

}  // namespace baton::vm
