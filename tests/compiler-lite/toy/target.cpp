// The target `toy`: its code is text, the name of each kernel with its words and bindings.
#include "compiler-lite/codegen/target.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen {
namespace toy {
namespace {

constexpr llvm::StringLiteral kDevices[] = {"toy"};
constexpr TargetFacts::Backend kBackends[] = {{"toy", "toy-text"}};
constexpr llvm::StringLiteral kTitle = "toy-title";
constexpr TargetFacts::Option kOptions[] = {{kTitle, "The first line of the text"}};
constexpr TargetFacts kFacts = {.devices = kDevices, .backends = kBackends, .options = kOptions};

// The bindings that the kernel writes its results to.
llvm::SmallVector<uint64_t> written_bindings(mlir::func::FuncOp kernel) {
  llvm::SmallVector<uint64_t> written;
  kernel.walk([&](mlir::bufferization::MaterializeInDestinationOp write) {
    mlir::Operation* memory = write.getDest().getDefiningOp();
    while (memory && !is_operation(memory, kBindingSubspan)) memory = memory->getOperand(0).getDefiningOp();
    if (memory) written.push_back(view_subspan(memory).binding);
  });
  return written;
}

class ToyTarget final : public Target {
 public:
  ToyTarget() : Target(kFacts) {}

  hal::ExecutableTargetAttr usual(mlir::MLIRContext* context, const TargetSettings&) const override {
    return attribute(context, "toy-text");
  }

  mlir::FailureOr<std::vector<Variant>> compile(const CompileRequest& request) const override {
    mlir::ModuleOp kernels = request.kernels;
    Variant variant{"toy-text", {}};
    std::string text = "title " + request.settings.option(kTitle) + "\n";
    for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
      if (kernel.isExternal() || kernel.isPrivate()) continue;
      const KernelLayout layout = noted_layout(kernel).value_or(layout_of(kernel));
      EntryPoint entry{kernel.getSymName().str()};
      entry.constant_count = static_cast<unsigned>(layout.constant_count);
      entry.binding_count = static_cast<unsigned>(layout.binding_count);
      text += "kernel " + entry.name + " words " + std::to_string(entry.constant_count) + " bindings";
      const llvm::SmallVector<uint64_t> written = written_bindings(kernel);
      for (unsigned i = 0; i < entry.binding_count; ++i) text += llvm::is_contained(written, i) ? " written" : " read";
      text += "\n";
      variant.entry_points.push_back(std::move(entry));
    }
    variant.bytes.assign(text.begin(), text.end());
    return std::vector<Variant>{std::move(variant)};
  }
};

}  // namespace

const Target& target() {
  static const ToyTarget target;
  return target;
}

}  // namespace toy
}  // namespace baton::compiler_lite::codegen
