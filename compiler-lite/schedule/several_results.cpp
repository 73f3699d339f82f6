#include "compiler-lite/schedule/several_results.hpp"

#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using llvm::SmallVector;
using mlir::Operation;
using mlir::Value;

// Elements from which on reading them again takes longer than a kernel that has more to do at once gains.
constexpr int64_t kElementsMin = 1 << 14;

bool is_in_place(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && !op.hasIndexSemantics() &&
         !is_library_work(op) && !codegen::is_branchy(op) &&
         llvm::all_of(op.getDpsInitsMutable(), [&](mlir::OpOperand& init) {
           return op.getMatchingIndexingMap(&init).isIdentity() && !op.payloadUsesValueFromOperand(&init);
         });
}

// The operation that reads the results of `writer`, when all else that is done with them is to hand them on, behind it.
linalg::GenericOp only_reader(linalg::GenericOp writer) {
  linalg::GenericOp reader;
  for (Operation* user : writer->getUsers()) {
    auto structured = llvm::dyn_cast<linalg::GenericOp>(user);
    if (!structured && llvm::isa<linalg::LinalgOp>(user)) return {};
    if (structured && reader && reader != structured) return {};
    if (structured) reader = structured;
  }
  if (!reader || reader->getBlock() != writer->getBlock()) return {};
  const bool others_follow = llvm::all_of(writer->getUsers(), [&](Operation* user) {
    return user == reader || (user->getBlock() == reader->getBlock() && reader->isBeforeInBlock(user));
  });
  return others_follow ? reader : linalg::GenericOp();
}

// Where the reader reads them, each at its own place, and both may be one kernel.
mlir::OpOperand* joint_of(linalg::GenericOp writer) {
  if (!is_in_place(writer)) return nullptr;
  const auto type = llvm::cast<mlir::RankedTensorType>(writer.getResult(0).getType());
  if (!type.hasStaticShape() || type.getNumElements() < kElementsMin) return nullptr;
  linalg::GenericOp reader = only_reader(writer);
  if (!is_in_place(reader) || reader.getStaticLoopRanges() != writer.getStaticLoopRanges()) return nullptr;
  mlir::OpOperand* joint = nullptr;
  for (mlir::OpOperand& operand : reader->getOpOperands()) {
    if (operand.get().getDefiningOp() != writer) continue;
    if (!reader.getMatchingIndexingMap(&operand).isIdentity()) return nullptr;
    joint = &operand;
  }
  return joint && codegen::stays_small(writer, reader, joint->get()) ? joint : nullptr;
}

bool join(mlir::IRRewriter& rewriter, linalg::GenericOp writer) {
  mlir::OpOperand* joint = joint_of(writer);
  if (!joint || !linalg::areElementwiseOpsFusable(joint)) return false;
  rewriter.setInsertionPoint(joint->getOwner());
  Operation* const reader = joint->getOwner();
  mlir::FailureOr<linalg::ElementwiseOpFusionResult> made = linalg::fuseElementwiseOps(rewriter, joint);
  if (mlir::failed(made)) return false;
  for (const auto& [before, after] : made->replacements) rewriter.replaceAllUsesWith(before, after);
  rewriter.eraseOp(reader);
  if (writer->use_empty()) rewriter.eraseOp(writer);
  return true;
}

}  // namespace

mlir::LogicalResult join_writers_of_results(mlir::ModuleOp module) {
  mlir::IRRewriter rewriter(module.getContext());
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    SmallVector<linalg::GenericOp> writers;
    function.walk([&](linalg::GenericOp op) { writers.push_back(op); });
    // The last ones first, as one that was joined with its reader is another operation behind it.
    for (linalg::GenericOp writer : llvm::reverse(writers)) join(rewriter, writer);
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
