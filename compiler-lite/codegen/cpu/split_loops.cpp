#include "compiler-lite/codegen/cpu/split_loops.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace affine = mlir::affine;
namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Value;

// Each splits one part of what was one loop.
constexpr int kMostSplits = 8;

bool is_defined_outside(Value value, scf::ForOp loop) {
  return !loop->isAncestor(value.getParentRegion()->getParentOp());
}

bool has_no_negative_numbers(mlir::AffineExpr expression) {
  return !expression
              .walk([](mlir::AffineExpr part) {
                const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(part);
                return constant && constant.getValue() < 0 ? mlir::WalkResult::interrupt()
                                                           : mlir::WalkResult::advance();
              })
              .wasInterrupted();
}

// Numbers of workgroups and steps, and what is computed of them without a minus.
bool is_count(Value value) {
  if (const auto known = mlir::getConstantIntValue(value)) return *known >= 0;
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    auto loop = llvm::dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && is_count(loop.getLowerBound());
  }
  mlir::Operation* made = value.getDefiningOp();
  if (made->getName().getStringRef() == kWorkgroupId) return true;
  auto applied = llvm::dyn_cast<affine::AffineApplyOp>(made);
  return applied && has_no_negative_numbers(applied.getAffineMap().getResult(0)) &&
         llvm::all_of(applied.getMapOperands(), is_count);
}

// Whether `expression` is dimension `place`, once, and what does not depend on it.
bool is_moved(mlir::AffineExpr expression, unsigned place, mlir::AffineMap map) {
  const mlir::AffineExpr dimension = mlir::getAffineDimExpr(place, map.getContext());
  const mlir::AffineExpr zero = mlir::getAffineConstantExpr(0, map.getContext());
  const mlir::AffineExpr moved = expression.replace(dimension, zero) + dimension;
  return mlir::simplifyAffineExpr(moved - expression, map.getNumDims(), map.getNumSymbols()) == zero;
}

// What is compared: the loop's step, moved by what `offset` adds.
struct Question {
  arith::CmpIOp compared;
  affine::AffineApplyOp offset;  // Null: by nothing.
  bool is_first = false;         // The answer before the place.
};

bool decides_about_loads(arith::CmpIOp compared) {
  return llvm::any_of(compared->getUsers(), [](mlir::Operation* user) {
    if (llvm::isa<arith::AndIOp, arith::OrIOp>(user)) {
      return llvm::any_of(user->getUsers(), [](mlir::Operation* next) { return llvm::isa<scf::IfOp>(next); });
    }
    return llvm::isa<scf::IfOp>(user) &&
           user->walk([](memref::LoadOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  });
}

std::optional<bool> answer_before(arith::CmpIPredicate predicate) {
  switch (predicate) {
    case arith::CmpIPredicate::ult:
    case arith::CmpIPredicate::slt: return true;
    case arith::CmpIPredicate::uge:
    case arith::CmpIPredicate::sge: return false;
    default: return std::nullopt;
  }
}

std::optional<Question> question_of(arith::CmpIOp compared, scf::ForOp loop) {
  const std::optional<bool> before = answer_before(compared.getPredicate());
  const std::optional<int64_t> place = mlir::getConstantIntValue(compared.getRhs());
  // Neither place nor step is negative, so signs do not matter.
  if (!before || !place || *place < 0 || !decides_about_loads(compared)) return std::nullopt;
  const Value step = loop.getInductionVar();
  if (compared.getLhs() == step) return Question{compared, nullptr, *before};
  auto moved = compared.getLhs().getDefiningOp<affine::AffineApplyOp>();
  if (!moved || !is_count(moved)) return std::nullopt;
  const mlir::AffineMap map = moved.getAffineMap();
  for (const auto& [i, operand] : llvm::enumerate(moved.getMapOperands())) {
    if (operand != step && !is_defined_outside(operand, loop)) return std::nullopt;
  }
  const mlir::ValueRange operands = moved.getMapOperands();
  const auto at = static_cast<unsigned>(std::distance(operands.begin(), llvm::find(operands, step)));
  if (at >= map.getNumDims() || !is_moved(map.getResult(0), at, map)) return std::nullopt;
  return Question{compared, moved, *before};
}

std::optional<Question> find_question(scf::ForOp loop) {
  std::optional<Question> found;
  loop.getBody()->walk([&](arith::CmpIOp compared) {
    found = question_of(compared, loop);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

// The step before which the answer is the first one, inside of the loop.
Value place_of(mlir::IRRewriter& rewriter, Question question, scf::ForOp loop) {
  const mlir::Location location = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value place =
      rewriter.create<arith::ConstantIndexOp>(location, *mlir::getConstantIntValue(question.compared.getRhs()));
  if (question.offset) {
    mlir::IRMapping at_zero;
    at_zero.map(loop.getInductionVar(), rewriter.create<arith::ConstantIndexOp>(location, 0).getResult());
    const Value offset = rewriter.clone(*question.offset, at_zero)->getResult(0);
    place = rewriter.createOrFold<arith::SubIOp>(location, place, offset);
  }
  place = rewriter.createOrFold<arith::MaxSIOp>(location, place, loop.getLowerBound());
  return rewriter.createOrFold<arith::MinSIOp>(location, place, loop.getUpperBound());
}

void answer(mlir::IRRewriter& rewriter, arith::CmpIOp compared, bool is_true) {
  rewriter.setInsertionPoint(compared);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(compared, rewriter.getBoolAttr(is_true));
}

void split(mlir::IRRewriter& rewriter, scf::ForOp loop, int& left) {
  std::optional<Question> question = left > 0 ? find_question(loop) : std::nullopt;
  if (!question) return;
  --left;
  const Value place = place_of(rewriter, *question, loop);
  rewriter.setInsertionPointAfter(loop);
  mlir::IRMapping clones;
  auto second = llvm::cast<scf::ForOp>(rewriter.clone(*loop, clones));
  const auto again = llvm::cast<arith::CmpIOp>(clones.lookup(question->compared.getOperation()));
  rewriter.modifyOpInPlace(loop, [&] { loop.setUpperBound(place); });
  rewriter.modifyOpInPlace(second, [&] { second.setLowerBound(place); });
  answer(rewriter, question->compared, question->is_first);
  answer(rewriter, again, !question->is_first);
  split(rewriter, loop, left);
  split(rewriter, second, left);
}

// Whether the loop has step 1, carries nothing and contains no other loop.
bool is_simple(scf::ForOp loop) {
  return loop.getInitArgs().empty() && mlir::isConstantIntValue(loop.getStep(), 1) &&
         mlir::getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0 &&
         !loop.getBody()->walk([](scf::ForOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

}  // namespace

void split_loops(mlir::ModuleOp kernels) {
  mlir::IRRewriter rewriter(kernels.getContext());
  llvm::SmallVector<scf::ForOp> loops;
  kernels.walk([&](scf::ForOp loop) {
    if (is_simple(loop)) loops.push_back(loop);
  });
  for (const scf::ForOp loop : loops) {
    int left = kMostSplits;
    split(rewriter, loop, left);
  }
}

}  // namespace baton::compiler_lite::codegen::cpu
