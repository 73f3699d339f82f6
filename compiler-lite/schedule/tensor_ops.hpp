// TensorOps: operations on tensors that are no dispatches: places in memory, fills, copies, elements, globals.
#pragma once

#include <optional>

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/schedule/flusher.hpp"
#include "compiler-lite/schedule/memory_bounds.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {

class TensorOps {
 public:
  TensorOps(ScheduledFunction& function, Places& places, MemoryBounds& memory_bounds, Gatherer& gatherer,
            Flusher& flusher)
      : function_(function),
        hal_(function.hal),
        builder_(function.builder),
        places_(places),
        memory_bounds_(memory_bounds),
        gatherer_(gatherer),
        flusher_(flusher) {}

  // Nothing for any other operation. The caller erases those that were scheduled.
  std::optional<mlir::LogicalResult> schedule(mlir::Operation* op);

 private:
  mlir::LogicalResult schedule_constant(mlir::Operation* op, mlir::Attribute value);
  mlir::LogicalResult schedule_fill(mlir::linalg::FillOp op);
  mlir::LogicalResult schedule_empty(mlir::tensor::EmptyOp op);
  mlir::LogicalResult schedule_dim(mlir::tensor::DimOp op);
  mlir::LogicalResult schedule_extract(mlir::tensor::ExtractOp op);
  mlir::LogicalResult schedule_extract_slice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult schedule_insert_slice(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult schedule_reshape(mlir::Operation* op);
  mlir::LogicalResult schedule_select(mlir::arith::SelectOp select);
  mlir::LogicalResult schedule_global_load(util::GlobalLoadOp op);
  mlir::LogicalResult schedule_global_store(util::GlobalStoreOp op);
  mlir::LogicalResult schedule_optimization_barrier(mlir::Operation* op);
  mlir::LogicalResult schedule_transfer(flow::TensorTransferOp op);
  mlir::Value load_element(mlir::Operation* op, mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> sizes_of_shape(mlir::tensor::ReshapeOp op);

  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Places& places_;
  MemoryBounds& memory_bounds_;
  Gatherer& gatherer_;
  Flusher& flusher_;
};

}  // namespace baton::compiler_lite::schedule
