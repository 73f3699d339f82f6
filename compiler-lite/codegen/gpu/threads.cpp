#include "compiler-lite/codegen/gpu/threads.hpp"

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/gpu/elementwise.hpp"
#include "compiler-lite/codegen/gpu/factors.hpp"
#include "compiler-lite/codegen/gpu/product.hpp"
#include "compiler-lite/codegen/gpu/reduction.hpp"
#include "compiler-lite/codegen/gpu/rotations.hpp"
#include "compiler-lite/codegen/gpu/rows.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"
#include "compiler-lite/codegen/points.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace linalg = mlir::linalg;
namespace memref = mlir::memref;

// Whether anything that happens after `op` could see what it has written.
bool is_last(mlir::Operation* op) {
  if (!llvm::isa<mlir::func::FuncOp>(op->getParentOp())) return false;  // In a loop it comes again.
  for (mlir::Operation* next = op->getNextNode(); next; next = next->getNextNode()) {
    if (!mlir::isMemoryEffectFree(next) && !llvm::isa<mlir::func::ReturnOp, memref::DeallocOp>(next)) return false;
  }
  return true;
}

class KernelLowering {
 public:
  KernelLowering(mlir::func::FuncOp kernel, const Features& features)
      : kernel_(kernel), block_(kernel, features), rewriter_(kernel.getContext()) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<mlir::Operation*> work;
    kernel_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      const bool is_work = llvm::isa<linalg::LinalgOp, memref::StoreOp, mlir::func::CallOp>(op) || op->hasAttr(kPoints);
      if (is_work) work.push_back(op);
      if (auto read = llvm::dyn_cast<memref::LoadOp>(op)) read_by_all_.push_back(memory_of(read.getMemRef()));
      return is_work ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
    });
    for (size_t i = 0; i + 1 < work.size(); ++i) skip_zeros(work[i], work[i + 1]);
    for (size_t i = 0; i + 1 < work.size(); ++i) join_last(work[i], work[i + 1]);
    for (mlir::Operation* op : work) {
      if (op && mlir::failed(lower(op))) return mlir::failure();
    }
    return mlir::success();
  }

 private:
  // A product needs no zeros to add to.
  void skip_zeros(mlir::Operation*& op, mlir::Operation* next) {
    auto fill = llvm::dyn_cast_or_null<linalg::FillOp>(op);
    auto product = llvm::dyn_cast<linalg::LinalgOp>(next);
    if (!fill || !product || fill->getBlock() != product->getBlock()) return;
    const mlir::Value value = fill.value();
    if (!mlir::matchPattern(value, mlir::m_AnyZeroFloat()) && !mlir::matchPattern(value, mlir::m_Zero())) return;
    if (product.getDpsInits()[0] != fill.output() || !takes_product(product, block_)) return;
    if (!keeps_sums(product, *product_form(product), block_.features())) return;
    from_zero_.insert(next);
    rewriter_.eraseOp(fill);
    op = nullptr;
  }

  // What goes over a product's sums element by element takes them from registers, and no memory holds them. A result of it
  // stands for the sums, in both operations; they are gone before the verifier runs.
  void join_last(mlir::Operation* op, mlir::Operation*& next) {
    auto product = llvm::dyn_cast_or_null<linalg::LinalgOp>(op);
    auto last = llvm::dyn_cast_or_null<linalg::GenericOp>(next);
    if (!product || !last || !from_zero_.contains(op) || op->getBlock() != next->getBlock()) return;
    if (last.getNumReductionLoops() != 0 || !is_light(last)) return;
    mlir::OpOperand* const read = reader_of_sums(product, last);
    if (!read || !last.getMatchingIndexingMap(read).isPermutation()) return;
    mlir::OpOperand* const result = result_for_sums(product, last, *read);
    if (!result) return;
    const mlir::Value sums = read->get();
    const bool in_place = result->get() == sums;
    rewriter_.moveOpBefore(op, next);
    rewriter_.setInsertionPoint(op);
    const mlir::Value c = in_order_of(last.getMatchingIndexingMap(read), last.getMatchingIndexingMap(result), *result);
    rewriter_.modifyOpInPlace(op, [&] { product.getDpsInitOperand(0)->set(c); });
    rewriter_.modifyOpInPlace(next, [&] { read->set(c); });
    if (!in_place) {
      for (mlir::Operation* user : llvm::make_early_inc_range(sums.getUsers())) rewriter_.eraseOp(user);
      rewriter_.eraseOp(sums.getDefiningOp());
    }
    last_.try_emplace(op, read);
    next = nullptr;
  }

  // The operand by which `last` reads what the product leaves, where no other operation does: sums in memory of their own, or in
  // that of a result that takes their place.
  static mlir::OpOperand* reader_of_sums(linalg::LinalgOp product, linalg::GenericOp last) {
    const mlir::Value sums = product.getDpsInits()[0];
    const bool is_own = sums.getDefiningOp<memref::AllocOp>() != nullptr;
    mlir::OpOperand* read = nullptr;
    for (mlir::OpOperand& operand : last->getOpOperands()) {
      if (operand.get() == sums && last.isDpsInput(&operand)) {
        if (read) return nullptr;
        read = &operand;
      } else if (memory_of(operand.get()) == memory_of(sums) && (is_own || operand.get() != sums)) {
        return nullptr;
      }
    }
    const bool is_seen_elsewhere = llvm::any_of(sums.getUsers(), [&](mlir::Operation* user) {
      return user != product && user != last && !llvm::isa<memref::DeallocOp>(user);
    });
    return is_own && is_seen_elsewhere ? nullptr : read;
  }

  // The result that stands for the sums: of a type that products have, and where the sums' own memory is one's, that one.
  mlir::OpOperand* result_for_sums(linalg::LinalgOp product, linalg::GenericOp last, mlir::OpOperand& read) {
    const mlir::Value sums = read.get();
    mlir::OpOperand* found = nullptr;
    for (mlir::OpOperand& each : last.getDpsInitsMutable()) {
      const mlir::AffineMap map = last.getMatchingIndexingMap(&each);
      if (!map.isPermutation() || is_read_by(each.get(), product)) return nullptr;
      const bool is_place = each.get() == sums;
      const bool is_in_order = map == last.getMatchingIndexingMap(&read) && !last.payloadUsesValueFromOperand(&each);
      if (is_place && !is_in_order) return nullptr;
      if (is_place || (!found && has_sums_type(each.get().getType()))) found = &each;
    }
    const bool is_own = sums.getDefiningOp<memref::AllocOp>() != nullptr;
    return found && (is_own || found->get() == sums) ? found : nullptr;
  }

  // It is written for every sum that a thread has, twice: long functions would make ten times the code.
  static bool is_light(linalg::GenericOp last) {
    constexpr int64_t kFunctionsMax = 2, kOperationsMax = 24;
    int64_t functions = 0, operations = 0;
    bool has_long = false;
    for (mlir::Operation& op : last.getBody()->without_terminator()) {
      const bool is_free = llvm::isa<mlir::arith::ConstantOp, mlir::CastOpInterface>(op);
      operations += is_free ? 0 : 1;
      if (!llvm::isa<mlir::math::MathDialect>(op.getDialect())) {
        has_long |= op.getNumRegions() != 0;
        continue;
      }
      const mlir::Type type = op.getResult(0).getType();
      has_long |=
          type.isF64() ||
          !llvm::isa<mlir::math::ExpOp, mlir::math::Exp2Op, mlir::math::TanhOp, mlir::math::ErfOp, mlir::math::SqrtOp,
                     mlir::math::RsqrtOp, mlir::math::LogOp, mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::FmaOp,
                     mlir::math::FloorOp, mlir::math::CeilOp, mlir::math::RoundEvenOp>(op);
      functions += llvm::isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::FmaOp>(op) ? 0 : 1;
    }
    return !has_long && functions <= kFunctionsMax && operations <= kOperationsMax;
  }

  // One tile's results are written before the next tile is multiplied.
  static bool is_read_by(mlir::Value result, linalg::LinalgOp product) {
    return llvm::any_of(product.getDpsInputs(),
                        [&](mlir::Value input) { return memory_of(input) == memory_of(result); });
  }
  static mlir::Value memory_of(mlir::Value memory) {
    while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>()) memory = view.getViewSource();
    return memory;
  }

  // Whether `op` writes where every thread reads for itself: one that is ahead must not write what another has yet to read.
  bool overwrites_numbers(mlir::Operation* op) const {
    if (read_by_all_.empty() || llvm::isa<memref::StoreOp>(op)) return false;
    auto loops = llvm::dyn_cast<linalg::LinalgOp>(op);
    if (!loops || last_.contains(op)) return true;
    return llvm::any_of(loops.getDpsInits(), [&](mlir::Value result) {
      return llvm::any_of(read_by_all_, [&](mlir::Value read) { return may_be_same(memory_of(result), read); });
    });
  }
  // Memories of the kernel's own are apart from all others, and so are bindings of other numbers.
  static bool may_be_same(mlir::Value a, mlir::Value b) {
    auto one = a.getDefiningOp<hal::InterfaceBindingSubspanOp>();
    auto other = b.getDefiningOp<hal::InterfaceBindingSubspanOp>();
    if (a == b || (one && other)) return a == b || one.getBinding() == other.getBinding();
    return !(one || a.getDefiningOp<memref::AllocOp>()) || !(other || b.getDefiningOp<memref::AllocOp>());
  }

  // A result's memory with the dimensions in the order in which the sums are read.
  mlir::Value in_order_of(mlir::AffineMap read, mlir::AffineMap written, mlir::OpOperand& result) {
    if (read == written) return result.get();
    const mlir::AffineMap order = written.compose(mlir::inversePermutation(read));
    return rewriter_.create<memref::TransposeOp>(result.getOwner()->getLoc(), result.get(),
                                                 mlir::AffineMapAttr::get(mlir::inversePermutation(order)));
  }

  mlir::LogicalResult lower(mlir::Operation* op) {
    mlir::Operation* last = op;
    if (block_.threads() > 1 && overwrites_numbers(op)) {
      rewriter_.setInsertionPoint(op);
      Block::barrier(rewriter_, op->getLoc());
    }
    if (auto linalg_op = llvm::dyn_cast<linalg::LinalgOp>(op)) {
      mlir::FailureOr<mlir::Operation*> lowered = lower_loops(linalg_op);
      if (mlir::failed(lowered)) return mlir::failure();
      last = *lowered;
    } else if (auto store = llvm::dyn_cast<memref::StoreOp>(op)) {
      last = lower_store(store);
    } else if (auto points = llvm::dyn_cast<mlir::scf::ParallelOp>(op)) {
      rewriter_.setInsertionPoint(points);
      share_points(points);
    }
    if (block_.threads() > 1 && !is_last(last)) {
      rewriter_.setInsertionPointAfter(last);
      Block::barrier(rewriter_, last->getLoc());
    }
    // Only now: while it stands it marks the end of what it became.
    if (!llvm::isa<mlir::func::CallOp>(last)) rewriter_.eraseOp(last);
    return mlir::success();
  }

  // Writes code before the operation; gives the operation, to be erased.
  mlir::FailureOr<mlir::Operation*> lower_loops(linalg::LinalgOp op) {
    rewriter_.setInsertionPoint(op);
    mlir::OpOperand* const sums_of_last = last_.lookup(op);
    if (mlir::Operation* product = lower_product(rewriter_, op, block_, from_zero_.contains(op), sums_of_last)) {
      if (sums_of_last) rewriter_.eraseOp(sums_of_last->getOwner());
      return product;
    }
    mlir::FailureOr<linalg::GenericOp> generic = generalize(rewriter_, op);
    if (mlir::failed(generic)) return mlir::failure();
    rewriter_.setInsertionPoint(*generic);
    if (generic->getNumReductionLoops() > 0) {
      lower_reduction(rewriter_, *generic, block_);
    } else {
      lower_elementwise(rewriter_, *generic, block_);
    }
    return generic->getOperation();
  }

  void share_points(mlir::scf::ParallelOp points) {
    block_.strided(rewriter_, points.getLoc(), points.getUpperBound()[0],
                   [&](mlir::OpBuilder& inside, mlir::Value number) {
                     mlir::IRMapping values;
                     values.map(points.getInductionVars()[0], number);
                     for (mlir::Operation& op : points.getBody()->without_terminator()) inside.clone(op, values);
                   });
  }

  // Everyone reads before it; then one writes.
  mlir::Operation* lower_store(memref::StoreOp store) {
    rewriter_.setInsertionPoint(store);
    if (block_.threads() == 1) {
      rewriter_.clone(*store);
      return store;
    }
    Block::barrier(rewriter_, store.getLoc());
    block_.by_one(rewriter_, store.getLoc(), [&](mlir::OpBuilder& inside) { inside.clone(*store); });
    return store;
  }

  mlir::func::FuncOp kernel_;
  llvm::SmallVector<mlir::Value> read_by_all_;               // Memories of which every thread reads numbers.
  llvm::DenseSet<mlir::Operation*> from_zero_;               // Products whose results hold nothing that counts.
  llvm::DenseMap<mlir::Operation*, mlir::OpOperand*> last_;  // By product: how the operation over its sums reads them.
  Block block_;
  mlir::IRRewriter rewriter_;
};

}  // namespace

namespace {

// A kernel that says nothing itself, and isn't one for the square of threads that products want.
void choose_threads(mlir::func::FuncOp kernel) {
  if (kernel->hasAttr("workgroup_size")) return;
  int64_t threads = 0;
  bool has_product = false;
  kernel.walk([&](linalg::LinalgOp op) {
    auto generic = llvm::dyn_cast<linalg::GenericOp>(op.getOperation());
    has_product = has_product || product_form(op);
    if (generic) threads = std::max(threads, threads_wanted(generic));
  });
  if (threads == 0 || has_product) return;
  kernel->setAttr("workgroup_size", mlir::OpBuilder(kernel).getIndexArrayAttr({threads, 1, 1}));
}

// PTX orders zeros by their sign in max and min; LLVM would do it once more by hand.
void leave_zeros_to_ptx(mlir::ModuleOp kernels) {
  kernels.walk([](mlir::arith::ArithFastMathInterface op) {
    if (!llvm::isa<mlir::arith::MaximumFOp, mlir::arith::MinimumFOp>(op.getOperation())) return;
    const auto flags = op.getFastMathFlagsAttr().getValue() | mlir::arith::FastMathFlags::nsz;
    op->setAttr(op.getFastMathAttrName(), mlir::arith::FastMathFlagsAttr::get(op.getContext(), flags));
  });
}

}  // namespace

mlir::LogicalResult lower_to_threads(mlir::ModuleOp kernels, const Features& features) {
  mlir::IRRewriter rewriter(kernels.getContext());
  copies_to_linalg(rewriter, kernels);
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (kernel.isExternal()) continue;
    if (kernel->hasAttr(kAttention)) {
      if (!features.write_attention) return kernel.emitError("There is no code for attention on this device.");
      if (mlir::failed(features.write_attention(kernel, features))) return mlir::failure();
      continue;
    }
    if (read_rotations(kernel)) {
      write_rotations_kernel(kernel, features);
      continue;
    }
    if (read_factors(kernel)) {
      write_factors_kernel(kernel, features);
      continue;
    }
    const mlir::FailureOr<bool> is_lowered = lower_rows(rewriter, kernel, features);
    if (mlir::failed(is_lowered)) return mlir::failure();
    if (!*is_lowered) choose_threads(kernel);
    if (!*is_lowered && mlir::failed(KernelLowering(kernel, features).run())) return mlir::failure();
  }
  leave_zeros_to_ptx(kernels);
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen::gpu
