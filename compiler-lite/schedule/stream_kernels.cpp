#include "compiler-lite/schedule/stream_kernels.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/schedule/scalar_words.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::Value;

hal::PipelineLayoutAttr layout_of(mlir::func::FuncOp function) {
  unsigned words = 0;
  SmallVector<hal::PipelineBindingAttr> bindings;
  for (const mlir::Type type : function.getArgumentTypes()) {
    if (llvm::isa<stream::BindingType>(type)) {
      bindings.push_back(hal::PipelineBindingAttr::get(type.getContext(), "storage_buffer", false, false));
    } else {
      words += word_count(type);
    }
  }
  return hal::PipelineLayoutAttr::get(function.getContext(), words, bindings, {});
}

class EntryPointLowering {
 public:
  explicit EntryPointLowering(mlir::func::FuncOp function) : function_(function), layout_(layout_of(function)) {}

  mlir::LogicalResult run() {
    unsigned binding = 0, word = 0;
    OpBuilder builder = OpBuilder::atBlockBegin(&function_.getBody().front());
    for (mlir::BlockArgument argument : function_.getArguments()) {
      if (llvm::isa<stream::BindingType>(argument.getType())) {
        if (mlir::failed(lower_binding(argument, binding++))) return mlir::failure();
        continue;
      }
      const unsigned count = word_count(argument.getType());
      if (count == 0) {
        return function_.emitError("A kernel can't take an argument of type ") << argument.getType() << ".";
      }
      SmallVector<Value> words;
      for (unsigned i = 0; i < count; ++i) words.push_back(load_word(builder, argument.getLoc(), word++));
      argument.replaceAllUsesWith(unpack_words(builder, argument.getLoc(), words, argument.getType()));
    }
    function_.getBody().front().eraseArguments(0, function_.getNumArguments());
    function_.setFunctionType(builder.getFunctionType({}, function_.getResultTypes()));
    function_.removeArgAttrsAttr();
    return mlir::success();
  }

 private:
  Value load_word(OpBuilder& builder, mlir::Location location, unsigned ordinal) {
    return builder.create<hal::InterfaceConstantLoadOp>(
        location, builder.getI32Type(), layout_, builder.getIndexAttr(ordinal), mlir::IntegerAttr(), mlir::ArrayAttr());
  }

  mlir::LogicalResult lower_binding(mlir::BlockArgument argument, unsigned ordinal) {
    for (mlir::Operation* user : llvm::make_early_inc_range(argument.getUsers())) {
      auto subspan = llvm::dyn_cast<stream::BindingSubspanOp>(user);
      if (!subspan) return user->emitOpError("uses a binding; only stream.binding.subspan does that");
      OpBuilder builder(subspan);
      auto lowered = builder.create<hal::InterfaceBindingSubspanOp>(
          subspan.getLoc(), subspan.getType(), layout_, builder.getIndexAttr(ordinal), mlir::IntegerAttr(),
          subspan.getByteOffset(), mlir::StringAttr(), subspan.getDynamicDims());
      subspan.replaceAllUsesWith(lowered.getResult());
      subspan.erase();
    }
    return mlir::success();
  }

  mlir::func::FuncOp function_;
  hal::PipelineLayoutAttr layout_;
};

template <typename From, typename To>
void rename_workgroup_op(mlir::Operation* op) {
  auto from = llvm::dyn_cast<From>(op);
  if (!from) return;
  OpBuilder builder(op);
  auto to = builder.create<To>(op->getLoc(), builder.getIndexType(), from.getDimensionAttr(), mlir::IntegerAttr());
  from.getResult().replaceAllUsesWith(to.getResult());
  from.erase();
}

}  // namespace

mlir::LogicalResult lower_stream_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<llvm::StringRef> entry_points) {
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    if (!llvm::is_contained(entry_points, function.getSymName())) {
      function.setPrivate();  // Only entry points are seen from outside.
      continue;
    }
    function.setPublic();
    if (mlir::failed(EntryPointLowering(function).run())) return mlir::failure();
  }
  kernels.walk(
      [](mlir::Operation* op) { rename_workgroup_op<stream::DispatchWorkgroupIDOp, hal::InterfaceWorkgroupIDOp>(op); });
  kernels.walk([](mlir::Operation* op) {
    rename_workgroup_op<stream::DispatchWorkgroupCountOp, hal::InterfaceWorkgroupCountOp>(op);
  });
  kernels.walk([](mlir::Operation* op) {
    rename_workgroup_op<stream::DispatchWorkgroupSizeOp, hal::InterfaceWorkgroupSizeOp>(op);
  });
  kernels.walk(
      [](mlir::Operation* op) { rename_workgroup_op<flow::DispatchWorkgroupIDOp, hal::InterfaceWorkgroupIDOp>(op); });
  kernels.walk([](mlir::Operation* op) {
    rename_workgroup_op<flow::DispatchWorkgroupCountOp, hal::InterfaceWorkgroupCountOp>(op);
  });
  kernels.walk([](mlir::Operation* op) {
    rename_workgroup_op<flow::DispatchWorkgroupSizeOp, hal::InterfaceWorkgroupSizeOp>(op);
  });
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
