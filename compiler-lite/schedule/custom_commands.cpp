#include "compiler-lite/schedule/custom_commands.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::Value;

constexpr llvm::StringLiteral kStreamable = "iree.abi.streamable";
constexpr llvm::StringLiteral kResultDims = "iree.abi.result_dims";
constexpr llvm::StringLiteral kDims = "iree.abi.dims";

int64_t tie_of(mlir::ArrayAttr ties, unsigned result) {
  return ties && result < ties.size() ? llvm::cast<mlir::IntegerAttr>(ties[result]).getInt() : -1;
}

void append_sizes(OpBuilder& builder, Value tensor, SmallVector<Value>& sizes) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(tensor.getType());
  for (unsigned i = 0; type && i < type.getRank(); ++i) {
    if (type.isDynamicDim(i)) sizes.push_back(builder.createOrFold<mlir::tensor::DimOp>(tensor.getLoc(), tensor, i));
  }
}

// One streamable import: its declaration and its calls.
class Conversion {
 public:
  Conversion(mlir::ModuleOp module, util::FuncOp import) : module_(module), import_(import) {}

  mlir::LogicalResult run() {
    SmallVector<util::CallOp> calls;
    module_.walk([&](util::CallOp call) {
      if (call.getCallee() == import_.getSymName()) calls.push_back(call);
    });
    for (util::CallOp call : calls) {
      if (mlir::failed(convert(call))) return mlir::failure();
    }
    OpBuilder builder(import_);
    auto function = builder.create<flow::FuncOp>(
        import_.getLoc(), import_.getSymNameAttr(), import_.getFunctionTypeAttr(), builder.getStringAttr("private"),
        import_.getArgAttrsAttr(), import_.getResAttrsAttr(), import_.getTiedOperandsAttr());
    (void)function;
    import_.erase();
    return mlir::success();
  }

 private:
  mlir::LogicalResult convert(util::CallOp call) {
    OpBuilder builder(call);
    SmallVector<Value> argument_sizes, result_sizes;
    for (const Value operand : call.getOperands()) append_sizes(builder, operand, argument_sizes);
    if (mlir::failed(find_result_sizes(builder, call, result_sizes))) return mlir::failure();
    auto converted =
        builder.create<flow::CallOp>(call.getLoc(), call.getResultTypes(), call.getCalleeAttr(), call.getOperands(),
                                     argument_sizes, result_sizes, import_.getTiedOperandsAttr());
    call.replaceAllUsesWith(converted.getResults());
    call.erase();
    return mlir::success();
  }

  mlir::LogicalResult find_result_sizes(OpBuilder& builder, util::CallOp call, SmallVector<Value>& sizes) {
    SmallVector<mlir::Type> asked;
    for (const mlir::Type type : call.getResultTypes()) {
      const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
      if (tensor) asked.append(static_cast<size_t>(tensor.getNumDynamicDims()), builder.getIndexType());
    }
    if (const auto function = import_->getAttrOfType<mlir::FlatSymbolRefAttr>(kResultDims);
        function && !asked.empty()) {
      auto told = builder.create<util::CallOp>(call.getLoc(), function.getValue(), asked, call.getOperands());
      llvm::append_range(sizes, told.getResults());
      return mlir::success();
    }
    for (unsigned i = 0; i < call.getNumResults(); ++i) {
      if (mlir::failed(sizes_of_result(builder, call, i, sizes))) return mlir::failure();
    }
    return mlir::success();
  }

  mlir::LogicalResult sizes_of_result(OpBuilder& builder, util::CallOp call, unsigned result,
                                      SmallVector<Value>& sizes) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(call.getResult(result).getType());
    if (!type || type.hasStaticShape()) return mlir::success();
    if (const auto dims = import_.getResultAttrOfType<mlir::ArrayAttr>(result, kDims)) {
      for (const mlir::Attribute each : dims) {
        const auto number = static_cast<size_t>(llvm::cast<mlir::IntegerAttr>(each).getInt());
        if (number >= call.getNumOperands() || !call.getOperand(static_cast<unsigned>(number)).getType().isIndex()) {
          return import_.emitOpError("says that argument ")
                 << number << " is a size of result " << result << ", and it is no index";
        }
        sizes.push_back(call.getOperand(static_cast<unsigned>(number)));
      }
      if (static_cast<int64_t>(dims.size()) == type.getNumDynamicDims()) return mlir::success();
      return import_.emitOpError("gives ") << dims.size() << " sizes for result " << result << ", a " << type;
    }
    const int64_t tied = tie_of(import_.getTiedOperandsAttr(), result);
    if (tied >= 0 && call.getOperand(static_cast<unsigned>(tied)).getType() == type) {
      append_sizes(builder, call.getOperand(static_cast<unsigned>(tied)), sizes);
      return mlir::success();
    }
    return import_.emitOpError("doesn't say how large result ")
           << result << " is before it runs; iree.abi.result_dims, iree.abi.dims or a tied operand does";
  }

  mlir::ModuleOp module_;
  util::FuncOp import_;
};

// Whether the import stands there already, for another type of it; an error where that one takes other arguments.
mlir::FailureOr<bool> is_declared(flow::FuncOp function, llvm::StringRef name, mlir::FunctionType type) {
  for (util::FuncOp other : function->getParentOfType<mlir::ModuleOp>().getOps<util::FuncOp>()) {
    if (other.getSymName() != name) continue;
    if (other.isExternal() && other.getFunctionType() == type) return true;
    return function.emitOpError("is another type of '") << name << "', which takes other arguments";
  }
  return false;
}

// The import that records: the command buffer, four words for each tensor, scalars as they are, untied results last.
mlir::LogicalResult declare(flow::FuncOp function) {
  OpBuilder builder(function);
  mlir::MLIRContext* context = builder.getContext();
  const mlir::Type index = builder.getIndexType();
  const mlir::Type buffer = hal::BufferType::get(context);
  SmallVector<mlir::Type> inputs = {hal::CommandBufferType::get(context)};
  const auto add = [&](mlir::Type type) {
    if (is_tensor(type)) {
      inputs.append({index, buffer, index, index});
    } else {
      inputs.push_back(type);
    }
  };
  for (const mlir::Type type : function.getArgumentTypes()) add(type);
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (tie_of(function.getTiedOperandsAttr(), i) < 0) add(function.getResultTypes()[i]);
  }
  const llvm::StringRef name = imported_name(function.getSymName());
  const mlir::FunctionType type = builder.getFunctionType(inputs, {});
  const mlir::FailureOr<bool> declared = is_declared(function, name, type);
  if (mlir::failed(declared) || *declared) return declared;
  auto import = builder.create<util::FuncOp>(function.getLoc(), name, type);
  import.setSymVisibilityAttr(builder.getStringAttr("private"));
  return mlir::success();
}

}  // namespace

mlir::LogicalResult convert_streamable_imports(mlir::ModuleOp module) {
  for (util::FuncOp function : llvm::make_early_inc_range(module.getOps<util::FuncOp>())) {
    if (!function.isExternal() || !function->hasAttr(kStreamable)) continue;
    if (mlir::failed(Conversion(module, function).run())) return mlir::failure();
  }
  return mlir::success();
}

llvm::StringRef imported_name(llvm::StringRef symbol) { return symbol.split('$').first; }

mlir::LogicalResult declare_custom_commands(mlir::ModuleOp module) {
  for (flow::FuncOp function : llvm::make_early_inc_range(module.getOps<flow::FuncOp>())) {
    if (!function.isExternal()) {
      return function.emitOpError("has a body; a custom command is a function of another module");
    }
    if (mlir::failed(declare(function))) return mlir::failure();
    function.erase();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
