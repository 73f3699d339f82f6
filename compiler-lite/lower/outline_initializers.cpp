#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

bool has_tensors(util::InitializerOp initializer) {
  return initializer
      .walk([](Operation* op) {
        const auto is_tensor = [](Type type) { return isa<TensorType>(type); };
        const bool found =
            llvm::any_of(op->getOperandTypes(), is_tensor) || llvm::any_of(op->getResultTypes(), is_tensor);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

}  // namespace

void outline_initializers(ModuleOp module) {
  unsigned number = 0;
  for (auto initializer : llvm::make_early_inc_range(module.getOps<util::InitializerOp>())) {
    if (!has_tensors(initializer)) continue;
    std::string name;
    do {
      name = "__initializer." + std::to_string(number++);
    } while (module.lookupSymbol(name));
    const Location location = initializer.getLoc();
    OpBuilder builder(initializer);
    auto function = builder.create<util::FuncOp>(location, name, builder.getFunctionType({}, {}));
    function.setPrivate();
    function->setAttr("noinline", builder.getUnitAttr());
    function.getBody().takeBody(initializer.getBody());
    // Only initializers write what isn't mutable.
    function.walk([&](util::GlobalStoreOp store) {
      if (auto global = module.lookupSymbol<util::GlobalOp>(store.getGlobal())) global.setIsMutable(true);
    });
    builder.createBlock(&initializer.getBody());
    builder.create<util::CallOp>(location, name, TypeRange(), ValueRange());
    builder.create<util::ReturnOp>(location, ValueRange());
  }
}

}  // namespace baton::compiler_lite::lower
