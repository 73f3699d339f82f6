// TileWriter: short forms for code that writes tiles by hand and needs the same again and again: sums of indices, comparisons,
// loops and choices.
//
// A writer derives from it. Everything is written where `builder_` stands.
#pragma once

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {

inline mlir::MemRefType type_of(mlir::Value memory) { return llvm::cast<mlir::MemRefType>(memory.getType()); }

class TileWriter {
 protected:
  TileWriter(mlir::OpBuilder& builder, mlir::Location location) : builder_(builder), location_(location) {}

  // Bytes of shared memory that the kernel's other temporaries take.
  int64_t taken_bytes() {
    mlir::Operation* kernel = builder_.getInsertionBlock()->getParentOp();
    while (!llvm::isa<mlir::func::FuncOp>(kernel)) kernel = kernel->getParentOp();
    return static_cast<int64_t>(temporary_bytes(kernel));
  }

  mlir::Value index(int64_t value) { return builder_.create<mlir::arith::ConstantIndexOp>(location_, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::AddIOp>(location_, a, b); }
  mlir::Value add(mlir::Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }
  mlir::Value times(mlir::Value a, int64_t b) {
    return builder_.createOrFold<mlir::arith::MulIOp>(location_, a, index(b));
  }
  mlir::Value quotient(mlir::Value a, int64_t b) {
    return builder_.createOrFold<mlir::arith::DivUIOp>(location_, a, index(b));
  }
  mlir::Value remainder(mlir::Value a, int64_t b) {
    return builder_.createOrFold<mlir::arith::RemUIOp>(location_, a, index(b));
  }
  mlir::Value both(mlir::Value a, mlir::Value b) { return builder_.create<mlir::arith::AndIOp>(location_, a, b); }
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a, mlir::Value b) {
    return builder_.create<mlir::arith::CmpIOp>(location_, how, a, b);
  }
  mlir::Value is_below(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpIPredicate::ult, a, b); }
  // `begin` + `count` is not beyond `end`.
  mlir::Value fits(mlir::Value begin, int64_t count, mlir::Value end) {
    return compare(mlir::arith::CmpIPredicate::ule, add(begin, count), end);
  }
  mlir::Value size_of(mlir::Value memory, int64_t dimension) {
    return builder_.createOrFold<mlir::memref::DimOp>(location_, memory, dimension);
  }

  // Bits that are set where a stride, of elements of so many bytes, is no multiple of `bytes`, a power of two.
  mlir::Value unaligned_bits_of(mlir::ValueRange strides, int64_t element_bytes, int64_t bytes);

  // From zero to `end`; the body gives the values of the next turn.
  template <typename Body>
  Values loop(mlir::Value end, int64_t step, mlir::ValueRange values, Body body) {
    auto loop = builder_.create<mlir::scf::ForOp>(location_, index(0), end, index(step), values);
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    if (values.empty()) {
      builder_.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar(), loop.getRegionIterArgs());
    } else {
      builder_.setInsertionPointToEnd(loop.getBody());
      const Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
      builder_.create<mlir::scf::YieldOp>(location_, next);
    }
    return Values(loop.getResults());
  }

  // What either of two bodies gives.
  template <typename Then, typename Else>
  Values choose(mlir::Value condition, mlir::TypeRange types, Then then, Else otherwise) {
    auto choice =
        builder_.create<mlir::scf::IfOp>(location_, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&choice.getThenRegion().front());
    builder_.create<mlir::scf::YieldOp>(location_, then());
    builder_.setInsertionPointToStart(&choice.getElseRegion().front());
    builder_.create<mlir::scf::YieldOp>(location_, otherwise());
    return Values(choice.getResults());
  }
  template <typename Body>
  void only_if(mlir::Value condition, Body body) {
    auto branch = builder_.create<mlir::scf::IfOp>(location_, condition);
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&branch.getThenRegion().front());
    body();
  }

  mlir::OpBuilder& builder_;
  const mlir::Location location_;
};

}  // namespace baton::compiler_lite::codegen::gpu
