#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr llvm::StringLiteral kView = "parameters.view";

// Declared where nobody did.
void declare_view(ModuleOp module) {
  if (module.lookupSymbol(kView)) return;
  MLIRContext* context = module.getContext();
  const Type bytes = util::BufferType::get(context);
  OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
  const FunctionType type =
      start.getFunctionType({hal::DeviceType::get(context), bytes, bytes}, hal::BufferViewType::get(context));
  start.create<util::FuncOp>(module.getLoc(), kView, type).setPrivate();
}

class Loader {
 public:
  explicit Loader(util::GlobalOp global)
      : global_(global),
        hal_calls_(global->getParentOfType<ModuleOp>()),
        builder_(global.getContext()),
        where_(global.getLoc()) {
    builder_.setInsertionPointAfter(global);
  }

  LogicalResult load(flow::NamedParameterAttr parameter) {
    const auto type = dyn_cast<RankedTensorType>(global_.getType());
    if (!type || !type.hasStaticShape()) {
      return global_.emitOpError("names a parameter as a ") << global_.getType() << "; one is a tensor of known sizes";
    }
    global_.removeInitialValueAttr();
    auto initializer = builder_.create<util::InitializerOp>(where_);
    builder_.createBlock(&initializer.getBody());
    const Value first = builder_.create<arith::ConstantIndexOp>(where_, 0);
    const Value device = hal_calls_.call(builder_, where_, "devices.get", first);
    const Value scope = bytes(parameter.getScope() ? parameter.getScope() : builder_.getStringAttr(""));
    const Value operands[] = {device, scope, bytes(parameter.getKey())};
    const Type view_type = hal::BufferViewType::get(builder_.getContext());
    const Value view = builder_.create<util::CallOp>(where_, kView, view_type, operands).getResult(0);
    const Value tensor = builder_.create<hal::TensorImportOp>(
        where_, type, Value(), UnitAttr(), view, Value(), parameter.getKey(), TypeAttr(), ValueRange(), Attribute());
    builder_.create<util::GlobalStoreOp>(where_, tensor, global_.getSymName());
    builder_.create<util::ReturnOp>(where_, ValueRange());
    return success();
  }

 private:
  Value bytes(StringAttr text) {
    return builder_.create<util::BufferConstantOp>(where_, util::BufferType::get(builder_.getContext()), StringAttr(),
                                                   text, IntegerAttr(), StringAttr());
  }

  util::GlobalOp global_;
  HalCalls hal_calls_;
  OpBuilder builder_;
  Location where_;
};

}  // namespace

LogicalResult load_named_parameters(ModuleOp module) {
  SmallVector<util::GlobalOp> globals;
  for (auto global : module.getOps<util::GlobalOp>()) {
    if (isa_and_nonnull<flow::NamedParameterAttr>(global.getInitialValueAttr())) globals.push_back(global);
  }
  if (globals.empty()) return success();
  declare_view(module);
  for (util::GlobalOp global : globals) {
    if (failed(Loader(global).load(cast<flow::NamedParameterAttr>(global.getInitialValueAttr())))) return failure();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
