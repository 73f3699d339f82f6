#include "tests/compiler-lite/codegen/compiled_groups.hpp"

#include <chrono>
#include <cstdlib>
#include <map>

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/dialects/all.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/device.hpp"
#include "hal/drivers/local/processor.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tests/support/files.hpp"

namespace baton::compiler_lite::codegen {
namespace {

cpu::TargetOptions target_of(const CompileOptions& options) {
  cpu::TargetOptions target;
  if (options.aarch64) target.architecture = cpu::Architecture::kAarch64;
  for (const std::string& level : options.levels) {
    target.levels.push_back(level == "avx512" ? cpu::Level::kAvx512
                            : level == "avx2" ? cpu::Level::kAvx2
                                              : cpu::Level::kBaseline);
  }
  target.object_search_paths = options.search_paths;
  target.sanitize = options.sanitize || std::getenv("BATON_TEST_SANITIZE");
  return target;
}

uint64_t value_of(const KernelConstant& constant, const std::vector<Argument>& arguments,
                  const std::vector<Tensor*>& results) {
  switch (constant.source) {
    case KernelConstant::Source::kArgument: return arguments[constant.index].bits;
    case KernelConstant::Source::kArgumentSize:
      return static_cast<uint64_t>(arguments[constant.index].tensor->shape[constant.dimension]);
    case KernelConstant::Source::kResultSize: break;
  }
  return static_cast<uint64_t>(results[constant.index]->shape[constant.dimension]);
}

class Recorded final : public RecordedGroup {
 public:
  static std::unique_ptr<Recorded> make(hal::Device& device, hal::Executable& executable, const std::string& name,
                                        const std::vector<uint32_t>& constants, const std::vector<Tensor*>& tensors,
                                        uint32_t workgroups, std::string& problem) {
    auto recorded = std::make_unique<Recorded>();
    recorded->device_ = Ref<hal::Device>(&device);
    recorded->tensors_ = tensors;
    std::vector<hal::Binding> bindings;
    for (const Tensor* tensor : tensors) {
      // A buffer of no bytes isn't one.
      auto buffer = device.allocator().allocate({.length = std::max<uint64_t>(64, tensor->bytes.size())}).value();
      const auto mapping = buffer->map(hal::Access::kWrite).value();
      std::memcpy(mapping.bytes().data(), tensor->bytes.data(), tensor->bytes.size());
      bindings.emplace_back(buffer);
      recorded->buffers_.push_back(std::move(buffer));
    }
    const auto found = executable.find(name);
    if (!found.has_value()) return problem = found.error().to_string(), nullptr;
    const auto commands = device.make_command_buffer().value();
    const Status status = commands->dispatch({.executable = &executable,
                                              .entry_point = found.value(),
                                              .grid = {workgroups, 1, 1},
                                              .constants = constants,
                                              .bindings = bindings});
    if (!status.ok()) return problem = status.to_string(), nullptr;
    recorded->recording_ = commands->finish().value();
    return recorded;
  }

  Status execute() {
    BATON_TRY(device_->queue().execute({}, *recording_));
    return device_->queue().wait_idle();
  }
  void run() override { (void)execute().ok(); }
  void fetch() override {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto mapping = buffers_[i]->map(hal::Access::kRead).value();
      std::memcpy(tensors_[i]->bytes.data(), mapping.bytes().data(), tensors_[i]->bytes.size());
    }
  }

 private:
  Ref<hal::Device> device_;
  std::vector<Tensor*> tensors_;
  std::vector<Ref<hal::Buffer>> buffers_;
  Ref<hal::Recording> recording_;
};

}  // namespace

std::vector<std::string> host_levels() {
  std::vector<std::string> levels = {"baseline"};
  const uint64_t bits = hal::drivers::local::host_processor().data[0];
#if defined(__x86_64__)
  if (bits >> 7 & 1) levels.push_back("avx2");
  if (bits >> 20 & 1) levels.push_back("avx512");
#endif
  return levels;
}

struct CompiledGroups::State {
  CompileOptions options;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  std::map<std::string, Kernel> made;
  std::vector<codegen::Object> objects;
  std::vector<char> bytes;
  std::string messages;
  double compile_ms = 0.0;
  Ref<hal::Device> device;
  Ref<hal::Executable> executable;

  bool make_kernels(mlir::ModuleOp groups) {
    kernels = mlir::ModuleOp::create(groups.getLoc(), groups.getName());
    for (auto group : groups.getOps<mlir::func::FuncOp>()) {
      mlir::FailureOr<Kernel> kernel = make_kernel(group, *kernels);
      if (mlir::failed(kernel)) return false;
      made.emplace(kernel->name, *kernel);
    }
    return true;
  }

  bool compile(std::string_view text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    if (!module) return false;
    const auto begin = std::chrono::steady_clock::now();
    if (options.from_kernels)
      kernels = std::move(module);
    else if (!make_kernels(*module))
      return false;
    for (const std::string& path : options.objects) objects.push_back(object_of(path));
    mlir::FailureOr<Variant> variant = cpu::build_executable(*kernels, target_of(options), objects);
    if (mlir::failed(variant)) return false;
    bytes = std::move(variant->bytes);
    compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return true;
  }

  codegen::Object object_of(const std::string& path) {
    if (!options.embed) return {path, {}, kernels->getLoc()};
    const std::vector<std::byte> file = testing_support::read_file(path);
    const auto* data = reinterpret_cast<const char*>(file.data());
    return {path.substr(path.rfind('/') + 1), {data, data + file.size()}, kernels->getLoc()};
  }

  std::string load() {
    auto opened = hal::drivers::local::make_driver(std::move(options.device))->open("sync", {});
    if (!opened.has_value()) return opened.error().to_string();
    device = std::move(opened).value();
    const hal::ExecutableVariant variant{"embedded-elf-x86_64", std::as_bytes(std::span(bytes))};
    auto loaded = device->make_executable({.name = "groups", .variants = {&variant, 1}});
    if (!loaded.has_value()) return loaded.error().to_string();
    executable = std::move(loaded).value();
    return {};
  }

  std::unique_ptr<Recorded> record(const std::string& name, const std::vector<uint32_t>& constants,
                                   const std::vector<Tensor*>& tensors, uint32_t workgroups, std::string& problem) {
    return Recorded::make(*device, *executable, name, constants, tensors, workgroups, problem);
  }

  std::string dispatch(const std::string& name, const std::vector<uint32_t>& constants,
                       const std::vector<Tensor*>& tensors, uint32_t workgroups) {
    std::string problem;
    const auto recorded = record(name, constants, tensors, workgroups, problem);
    if (!recorded) return problem;
    const Status status = recorded->execute();
    if (!status.ok()) return status.to_string();
    recorded->fetch();
    return {};
  }
};

CompiledGroups::CompiledGroups(std::string_view text, CompileOptions options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.options = std::move(options);
  mlir::DialectRegistry registry;
  register_dialects(registry);
  register_codegen(registry);
  state.context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  state.context->loadAllAvailableDialects();
  const mlir::ScopedDiagnosticHandler handler(state.context.get(), [&](mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) state.messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  if (!state.compile(text)) {
    if (state.messages.empty()) state.messages = "Failed without a message.";
    return;
  }
  if (!state.options.aarch64) state.messages += state.load();
}

CompiledGroups::~CompiledGroups() = default;

const std::string& CompiledGroups::messages() const { return state_->messages; }
const std::vector<char>& CompiledGroups::bytes() const { return state_->bytes; }

std::string CompiledGroups::llvm_ir() const {
  mlir::FailureOr<std::string> text =
      cpu::print_code(*state_->kernels, target_of(state_->options), state_->objects, cpu::EmitAs::kLlvmIr);
  return mlir::succeeded(text) ? *text : std::string();
}

uint32_t CompiledGroups::workgroups(const std::string& name, const std::vector<Argument>& arguments,
                                    const std::vector<Tensor*>& results) {
  const Kernel& kernel = state_->made.at(name);
  llvm::SmallVector<mlir::AffineExpr> symbols;
  for (const KernelConstant& constant : kernel.constants) {
    const auto value = static_cast<int64_t>(value_of(constant, arguments, results));
    symbols.push_back(mlir::getAffineConstantExpr(value, state_->context.get()));
  }
  const mlir::AffineExpr x = kernel.grid.getResult(0).replaceSymbols(symbols);
  return static_cast<uint32_t>(llvm::cast<mlir::AffineConstantExpr>(x).getValue());
}

namespace {

std::vector<uint32_t> words_of(const Kernel& kernel, const std::vector<Argument>& arguments,
                               const std::vector<Tensor*>& results) {
  std::vector<uint32_t> words;
  for (const KernelConstant& constant : kernel.constants) {
    const uint64_t value = value_of(constant, arguments, results);
    words.push_back(static_cast<uint32_t>(value));
    if (constant.word_count == 2) words.push_back(static_cast<uint32_t>(value >> 32));
  }
  return words;
}

std::vector<Tensor*> bindings_of(const Kernel& kernel, const std::vector<Argument>& arguments,
                                 const std::vector<Tensor*>& results) {
  std::vector<Tensor*> bindings;
  for (const KernelBinding& binding : kernel.bindings) {
    const bool argument = binding.source == KernelBinding::Source::kArgument;
    bindings.push_back(argument ? arguments[binding.index].tensor : results[binding.index]);
  }
  return bindings;
}

}  // namespace

std::string CompiledGroups::run(const std::string& name, const std::vector<Argument>& arguments,
                                const std::vector<Tensor*>& results) {
  const Kernel& kernel = state_->made.at(name);
  return state_->dispatch(name, words_of(kernel, arguments, results), bindings_of(kernel, arguments, results),
                          workgroups(name, arguments, results));
}

std::unique_ptr<RecordedGroup> CompiledGroups::record(const std::string& name, const std::vector<Argument>& arguments,
                                                      const std::vector<Tensor*>& results) {
  const Kernel& kernel = state_->made.at(name);
  std::string problem;
  return state_->record(name, words_of(kernel, arguments, results), bindings_of(kernel, arguments, results),
                        workgroups(name, arguments, results), problem);
}

double CompiledGroups::compile_ms() const { return state_->compile_ms; }

std::string CompiledGroups::run_kernel(const std::string& name, const std::vector<uint32_t>& constants,
                                       const std::vector<Tensor*>& bindings, uint32_t workgroups) {
  return state_->dispatch(name, constants, bindings, workgroups);
}

}  // namespace baton::compiler_lite::codegen
