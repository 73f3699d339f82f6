#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/outline.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace bufferization = mlir::bufferization;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

bool is_constant(Value value) { return mlir::matchPattern(value, mlir::m_Constant()); }

class RegionOutline {
 public:
  RegionOutline(flow::DispatchRegionOp op, std::string name, mlir::ModuleOp module)
      : op_(op), name_(std::move(name)), module_(module), builder_(module.getContext()) {}

  mlir::LogicalResult run() {
    collect();
    builder_.setInsertionPointToStart(module_.getBody());
    auto executable = builder_.create<stream::ExecutableOp>(op_.getLoc(), builder_.getStringAttr("private"),
                                                            builder_.getStringAttr(name_ + "_executable"));
    builder_.createBlock(&executable.getBody());
    write_export();
    builder_.setInsertionPointToEnd(&executable.getBody().front());
    auto kernels = builder_.create<mlir::ModuleOp>(op_.getLoc());
    if (mlir::failed(write_kernel(kernels))) return mlir::failure();
    replace(executable.getSymName());
    return mlir::success();
  }

 private:
  // What the body uses from outside: tensors, then scalars that its tensors' sizes or itself need.
  void collect() {
    llvm::SetVector<Value> used;
    mlir::getUsedValuesDefinedAbove(op_.getBody(), used);
    const auto add_sizes = [&](Value value) {
      OpBuilder before(op_);
      const auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
      for (unsigned d = 0; type && d < type.getRank(); ++d) {
        if (!type.isDynamicDim(d)) continue;
        const Value size = before.createOrFold<tensor::DimOp>(op_.getLoc(), value, d);
        tensor_sizes_.push_back(size);
        if (!is_constant(size)) scalars_.insert(size);
      }
    };
    for (const Value value : used) {
      auto empty = value.getDefiningOp<tensor::EmptyOp>();
      if (is_constant(value) && !is_tensor(value)) {
        cloned_.push_back(value);
      } else if (empty) {
        cloned_.push_back(value);
        for (const Value size : empty.getDynamicSizes()) {
          if (is_constant(size))
            cloned_.insert(cloned_.begin(), size);
          else
            scalars_.insert(size);
        }
      } else if (is_tensor(value)) {
        tensors_.push_back(value);
        add_sizes(value);
      } else {
        scalars_.insert(value);
      }
    }
    for (const Value size : op_.getResultDims()) {
      if (!is_constant(size)) scalars_.insert(size);
    }
  }

  void write_export() {
    auto entry = builder_.create<stream::ExecutableExportOp>(op_.getLoc(), builder_.getStringAttr("public"),
                                                             builder_.getStringAttr(name_), mlir::StringAttr());
    if (op_.getWorkgroupCount().empty()) return;
    // The count may use what stands outside: constants are cloned, the rest travels with the workload.
    llvm::SetVector<Value> used;
    mlir::getUsedValuesDefinedAbove(op_.getWorkgroupCount(), used);
    mlir::IRMapping values;
    op_.getWorkgroupCount().cloneInto(&entry.getWorkgroupCount(), values);
    mlir::Block& body = entry.getWorkgroupCount().front();
    OpBuilder inside = OpBuilder::atBlockBegin(&body);
    for (const Value value : used) {
      Value replacement;
      if (is_constant(value)) {
        replacement = inside.clone(*value.getDefiningOp())->getResult(0);
      } else {
        replacement = body.addArgument(value.getType(), op_.getLoc());
        workload_.push_back(value);
      }
      mlir::replaceAllUsesInRegionWith(value, replacement, entry.getWorkgroupCount());
    }
  }

  mlir::LogicalResult write_kernel(mlir::ModuleOp kernels) {
    OpBuilder builder = OpBuilder::atBlockBegin(kernels.getBody());
    SmallVector<mlir::Type> types(tensors_.size() + op_.getNumResults(),
                                  stream::BindingType::get(builder.getContext()));
    for (const Value scalar : scalars_) types.push_back(scalar.getType());
    auto kernel = builder.create<mlir::func::FuncOp>(op_.getLoc(), name_, builder.getFunctionType(types, {}));
    if (const auto config = op_->getAttrOfType<iree_codegen::ExportConfigAttr>("iree_codegen.export_config")) {
      SmallVector<mlir::Attribute> size;
      for (const int64_t each : config.getWorkgroupSize()) size.push_back(builder.getIndexAttr(each));
      kernel->setAttr("workgroup_size", builder.getArrayAttr(size));
    }
    mlir::Block* block = kernel.addEntryBlock();
    builder.setInsertionPointToStart(block);

    mlir::IRMapping values;
    const unsigned first_scalar = static_cast<unsigned>(tensors_.size()) + op_.getNumResults();
    for (unsigned i = 0; i < scalars_.size(); ++i) values.map(scalars_[i], block->getArgument(first_scalar + i));
    for (const Value value : cloned_) {
      if (!values.contains(value)) builder.clone(*value.getDefiningOp(), values);
    }
    size_t next_size = 0;
    for (unsigned i = 0; i < tensors_.size(); ++i) {
      const Value memory = subspan(builder, block->getArgument(i), tensors_[i], tensor_sizes_, next_size, values);
      auto read = builder.create<bufferization::ToTensorOp>(op_.getLoc(), memory);
      read.setRestrict(true);
      values.map(tensors_[i], read.getResult());
    }
    SmallVector<Value> results;
    const SmallVector<Value> result_sizes(op_.getResultDims());
    next_size = 0;
    for (unsigned i = 0; i < op_.getNumResults(); ++i) {
      const Value binding = block->getArgument(static_cast<unsigned>(tensors_.size()) + i);
      results.push_back(subspan(builder, binding, op_.getResult(i), result_sizes, next_size, values));
    }
    if (!op_.getBody().hasOneBlock()) return op_.emitOpError("has a body of several blocks");
    for (mlir::Operation& inner : op_.getBody().front().without_terminator()) builder.clone(inner, values);
    mlir::Operation* end = op_.getBody().front().getTerminator();
    for (unsigned i = 0; i < op_.getNumResults(); ++i) {
      write_result(builder, values.lookup(end->getOperand(i)), results[i]);
    }
    builder.create<mlir::func::ReturnOp>(op_.getLoc());
    return mlir::success();
  }

  Value subspan(OpBuilder& builder, Value binding, Value tensor, llvm::ArrayRef<Value> sizes, size_t& next_size,
                mlir::IRMapping& values) {
    const auto type = llvm::cast<RankedTensorType>(tensor.getType());
    SmallVector<Value> dynamic;
    for (int64_t i = 0; i < type.getNumDynamicDims(); ++i) {
      const Value size = sizes[next_size++];
      if (is_constant(size) && !values.contains(size)) builder.clone(*size.getDefiningOp(), values);
      dynamic.push_back(values.lookup(size));
    }
    const Value zero = builder.create<mlir::arith::ConstantIndexOp>(op_.getLoc(), 0);
    return builder.create<stream::BindingSubspanOp>(
        op_.getLoc(), mlir::MemRefType::get(type.getShape(), type.getElementType()), binding, zero, dynamic);
  }

  // What the workgroup inserts goes into the result's memory; what it inserts into was only there to have a shape.
  void write_result(OpBuilder& builder, Value value, Value memory) {
    OpBuilder::InsertionGuard guard(builder);
    Value base = value;
    tensor::InsertSliceOp first;
    while (auto insert = base.getDefiningOp<tensor::InsertSliceOp>()) {
      first = insert;
      base = insert.getDest();
    }
    if (first) {
      builder.setInsertionPointAfterValue(memory);
      auto whole = builder.create<bufferization::ToTensorOp>(op_.getLoc(), memory);
      whole.setRestrict(true);
      whole.setWritable(true);
      if (base.getDefiningOp<tensor::EmptyOp>())
        base.replaceAllUsesWith(whole);
      else
        first.getDestMutable().assign(whole);
      builder.setInsertionPointToEnd(memory.getParentBlock());
    }
    auto write = builder.create<bufferization::MaterializeInDestinationOp>(op_.getLoc(), value, memory);
    write.setRestrict(true);
    write.setWritable(true);
  }

  void replace(llvm::StringRef executable) {
    builder_.setInsertionPoint(op_);
    SmallVector<Value> arguments(tensors_), workload(op_.getWorkload()), sizes;
    llvm::append_range(arguments, scalars_);
    llvm::append_range(workload, workload_);
    const auto symbol = mlir::SymbolRefAttr::get(builder_.getContext(), executable,
                                                 {mlir::FlatSymbolRefAttr::get(builder_.getContext(), name_)});
    auto dispatch =
        builder_.create<flow::DispatchOp>(op_.getLoc(), op_.getResultTypes(), workload, builder_.getArrayAttr({symbol}),
                                          arguments, tensor_sizes_, op_.getResultDims(), mlir::ArrayAttr());
    op_.replaceAllUsesWith(dispatch.getResults());
    op_.erase();
  }

  flow::DispatchRegionOp op_;
  std::string name_;
  mlir::ModuleOp module_;
  OpBuilder builder_;
  SmallVector<Value> tensors_;
  SmallVector<Value> tensor_sizes_;
  llvm::SetVector<Value> scalars_;
  SmallVector<Value> cloned_;
  SmallVector<Value> workload_;
};

}  // namespace

mlir::LogicalResult outline_regions(mlir::ModuleOp module) {
  SmallVector<flow::DispatchRegionOp> found;
  module.walk([&](flow::DispatchRegionOp op) { found.push_back(op); });
  for (unsigned i = 0; i < found.size(); ++i) {
    auto function = found[i]->getParentOfType<util::FuncOp>();
    std::string name = (function ? function.getSymName() : llvm::StringRef("region")).str();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c) && c != '_'; }, '_');
    if (mlir::failed(RegionOutline(found[i], name + "_region_" + std::to_string(i), module).run())) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
