// Baton as a contender. Programs are assembled before anything is timed; `load` starts from the bytes of the module.
#include "bench/support/contender.hpp"
#include "bench/vm/native.h"
#include "bytecode/assembler.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

class Host final : public baton::sdk::Module<Host> {
 public:
  int32_t mix(int32_t a, int32_t b) { return bench_mix(a, b); }
};

}  // namespace

BATON_MODULE_QUERY(bench_host_query, Host, "host", BATON_FUNCTION("mix", &Host::mix));

namespace baton::bench {
namespace {

using vm::Value;

template <typename T>
T value_or_fail(Result<T> result) {
  if (!result) fail(std::string(result.error().message()));
  return std::move(result).value();
}

class Baton final : public Contender {
 public:
  void prepare(const Work& work) override {
    bytes_.emplace(bytecode::ModuleBytes::copy(assembled(work.program)));
    link_modules();
    program_ = value_or_fail(vm::Program::link(modules_));
    context_ = value_or_fail(vm::Context::make(program_));
    invocation_.emplace(context_);
    run_ = value_or_fail(context_->find_function("run"));
    for (const int32_t argument : work.arguments) arguments_.push_back(Value::of(argument));
    if (const Result<vm::ExportedFunction> prepare = context_->find_function("prepare")) invoke(*prepare, {});
  }

  double repeat(const Work& work, uint64_t count) override {
    switch (work.phase) {
      case Phase::call: return call(work, count);
      case Phase::load: return times(count, [this] { load(); });
      case Phase::link: return times(count, [this] { value_or_fail(vm::Program::link(modules_)); });
      case Phase::state: return times(count, [this] { kept_.push_back(value_or_fail(vm::Context::make(program_))); });
      case Phase::drop: kept_.clear(); return 0;
      case Phase::idle: return times(count, [this] { keep_idle(); });
    }
    return 0;
  }

  void before(const Work& work, uint64_t count) override {
    kept_.reserve(count);
    if (work.phase == Phase::drop)
      for (uint64_t i = 0; i < count; ++i) kept_.push_back(value_or_fail(vm::Context::make(program_)));
  }

  void after() override { kept_.clear(); }

 private:
  // The host's functions only beside a program that imports them: the tiny module is then linked, and has its state,
  // alone.
  void link_modules() {
    const Ref<const vm::BytecodeModule> program = load();
    if (program->view().import_count() != 0)
      modules_.push_back(value_or_fail(modules::NativeModule::make(bench_host_query)));
    modules_.push_back(program);
  }

  static std::vector<std::byte> assembled(const std::string& path) {
    return value_or_fail(bytecode::assemble(read_file(path), {.file_name = path, .strip_debug = true}));
  }

  Ref<const vm::BytecodeModule> load() const {
    return value_or_fail(vm::BytecodeModule::load(value_or_fail(bytecode::ModuleBytes::borrow(bytes_->bytes()))));
  }

  double call(const Work& work, uint64_t count) {
    Value result;
    const std::span<Value> results(&result, work.has_result ? 1 : 0);
    for (uint64_t i = 0; i < count; ++i) invoke(run_, results);
    return run_.signature.ends_with('F') ? result.f64 : static_cast<double>(result.i32);
  }

  void invoke(const vm::ExportedFunction& function, std::span<Value> results) {
    if (const Status status = invocation_->invoke_slots(function, arguments_, results); !status.ok())
      fail(std::string(status.message()));
  }

  // What an app holds for each instance that waits for work: its state, and the storage that its calls run in.
  void keep_idle() {
    idle_contexts_.push_back(value_or_fail(vm::Context::make(program_)));
    idle_invocations_.push_back(std::make_unique<vm::Invocation>(idle_contexts_.back()));
  }

  template <typename Body>
  static double times(uint64_t count, const Body& body) {
    for (uint64_t i = 0; i < count; ++i) body();
    return 0;
  }

  std::optional<bytecode::ModuleBytes> bytes_;
  std::vector<Ref<const vm::Module>> modules_;
  Ref<vm::Program> program_;
  Ref<vm::Context> context_;
  std::optional<vm::Invocation> invocation_;
  vm::ExportedFunction run_;
  std::vector<Value> arguments_;
  std::vector<Ref<vm::Context>> kept_;  // by `state`, for `drop`
  std::vector<Ref<vm::Context>> idle_contexts_;
  std::vector<std::unique_ptr<vm::Invocation>> idle_invocations_;
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  baton::bench::Baton baton;
  return baton::bench::run_contender(argc, argv, baton);
}
