#include "compiler-lite/codegen/gpu/block.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

bool has_parallel_work(mlir::func::FuncOp kernel) {
  return kernel
      ->walk([](mlir::Operation* op) {
        const bool found =
            op->getName().getDialectNamespace() == "linalg" || op->getName().getStringRef() == "memref.copy";
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

}  // namespace

Block::Block(mlir::func::FuncOp kernel, const Features& features) : kernel_(kernel), features_(features) {
  if (kernel->hasAttr("workgroup_size")) {
    unsigned given[3] = {1, 1, 1};
    read_workgroup_size(kernel, given);
    std::copy(std::begin(given), std::end(given), sizes_);
    return;
  }
  if (has_parallel_work(kernel)) sizes_[0] = kBlockThreads;
  OpBuilder builder(kernel);
  kernel->setAttr("workgroup_size", builder.getIndexArrayAttr(sizes_));
}

std::optional<int64_t> Block::count() const {
  const auto known = kernel_->getAttrOfType<mlir::IntegerAttr>(kWorkgroups);
  return known ? std::optional(known.getInt()) : std::nullopt;
}

bool Block::spend(int64_t bytes) {
  if (spent_ + bytes > features_.shared_bytes_max / 4 * 3) return false;
  if (static_cast<int64_t>(temporary_bytes(kernel_)) + bytes > features_.shared_bytes_max) return false;
  spent_ += bytes;
  return true;
}

Value Block::shared(mlir::MemRefType type, unsigned which) {
  for (const auto& [number, memory] : shared_) {
    if (number == which && memory.getType() == type) return memory;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel_.getBody().front());
  const Value made = builder.create<mlir::memref::AllocOp>(kernel_.getLoc(), type, builder.getI64IntegerAttr(16));
  shared_.emplace_back(which, made);
  return made;
}

void Block::want_two() { kernel_->setAttr(kBlocksWanted, OpBuilder(kernel_).getI32IntegerAttr(2)); }

Value Block::thread() {
  if (thread_) return thread_;
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel_.getBody().front());
  const Location location = kernel_.getLoc();
  const mlir::Type i32 = builder.getI32Type();
  Value number = builder.create<NVVM::ThreadIdXOp>(location, i32);
  const auto add_axis = [&](Value id, int64_t stride) {
    const Value by = builder.create<arith::ConstantIntOp>(location, stride, 32);
    number = builder.create<arith::AddIOp>(location, number, builder.create<arith::MulIOp>(location, id, by));
  };
  if (sizes_[1] > 1) add_axis(builder.create<NVVM::ThreadIdYOp>(location, i32), sizes_[0]);
  if (sizes_[2] > 1) add_axis(builder.create<NVVM::ThreadIdZOp>(location, i32), sizes_[0] * sizes_[1]);
  thread_ = builder.create<arith::IndexCastUIOp>(location, builder.getIndexType(), number);
  return thread_;
}

void Block::barrier(OpBuilder& builder, Location location) { builder.create<NVVM::Barrier0Op>(location); }

void Block::by_one(OpBuilder& builder, Location location, llvm::function_ref<void(OpBuilder&)> body) {
  const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  const Value first = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, thread(), zero);
  auto branch = builder.create<scf::IfOp>(location, first);
  OpBuilder inside = branch.getThenBodyBuilder();
  body(inside);
}

void Block::strided(OpBuilder& builder, Location location, Value count,
                    llvm::function_ref<void(OpBuilder&, Value)> body) {
  const Value step = builder.create<arith::ConstantIndexOp>(location, threads());
  auto loop = builder.create<scf::ForOp>(location, thread(), count, step);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  body(inside, loop.getInductionVar());
}

}  // namespace baton::compiler_lite::codegen::gpu
