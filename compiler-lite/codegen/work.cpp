#include "compiler-lite/codegen/work.hpp"

#include <map>
#include <optional>
#include <vector>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;
using mlir::Operation;
using mlir::Value;

// A product of a number and of words of the constants.
struct Size {
  uint64_t factor = 1;
  std::vector<unsigned> words = {};

  void multiply(const Size& other) {
    factor *= other.factor;
    words.insert(words.end(), other.words.begin(), other.words.end());
  }
};

class Counter {
 public:
  Counter(mlir::func::FuncOp group, const Kernel& kernel) : group_(group), kernel_(kernel) {}

  std::string count() {
    for (Operation& op : group_.getBody().front().without_terminator()) {
      if (!add(op)) return {};
    }
    return text();
  }

 private:
  // Whether it is known what the operation does.
  bool add(Operation& op) {
    if (auto loops = llvm::dyn_cast<mlir::linalg::LinalgOp>(op)) return add_loops(loops);
    if (op.getNumRegions() != 0) return false;
    if (llvm::isa<tensor::TensorDialect>(op.getDialect()) || llvm::isa<arith::ConstantOp>(op)) return true;
    const bool is_scalar = llvm::none_of(op.getResultTypes(), llvm::IsaPred<mlir::ShapedType>);
    return is_scalar && llvm::isa<arith::ArithDialect, mlir::math::MathDialect>(op.getDialect());
  }

  bool add_loops(mlir::linalg::LinalgOp op) {
    uint64_t each = 0;
    for (Operation& inner : *op.getBlock()) {
      if (inner.getNumRegions() != 0 || llvm::isa<mlir::complex::ComplexDialect>(inner.getDialect())) return false;
      each += flops_of(inner);
    }
    if (each == 0) return true;
    Size size{each};
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      const std::optional<Size> range = range_of(op, loop);
      if (!range) return false;
      size.multiply(*range);
    }
    std::sort(size.words.begin(), size.words.end());
    terms_[size.words] += size.factor;
    return true;
  }

  static uint64_t flops_of(Operation& op) {
    if (op.getNumResults() != 1 || !llvm::isa<mlir::FloatType>(op.getResult(0).getType())) return 0;
    if (llvm::isa<mlir::math::FmaOp>(op)) return 2;
    if (llvm::isa<mlir::math::MathDialect>(op.getDialect())) return 1;
    return llvm::isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
                     arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
  }

  // By an operand of which the loop is a dimension.
  std::optional<Size> range_of(mlir::linalg::LinalgOp op, unsigned loop) {
    const mlir::SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const mlir::AffineMap map = maps[operand.getOperandNumber()];
      for (unsigned d = 0; d < map.getNumResults(); ++d) {
        const auto dimension = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(d));
        if (!dimension || dimension.getPosition() != loop) continue;
        if (std::optional<Size> size = size_of(operand.get(), d)) return size;
      }
    }
    return std::nullopt;
  }

  // Of a dimension of a tensor.
  std::optional<Size> size_of(Value value, unsigned dimension) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type) return std::nullopt;
    if (!type.isDynamicDim(dimension)) return Size{static_cast<uint64_t>(type.getDimSize(dimension))};
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      return word(KernelConstant::Source::kArgumentSize, argument.getArgNumber(), dimension);
    }
    Operation* op = value.getDefiningOp();
    if (auto loops = llvm::dyn_cast<mlir::linalg::LinalgOp>(op)) {
      return size_of(loops.getDpsInits()[llvm::cast<mlir::OpResult>(value).getResultNumber()], dimension);
    }
    if (auto empty = llvm::dyn_cast<tensor::EmptyOp>(op)) return number_of(empty.getDynamicSize(dimension));
    if (auto cast = llvm::dyn_cast<tensor::CastOp>(op)) return size_of(cast.getSource(), dimension);
    if (auto insert = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return size_of(insert.getDest(), dimension);
    if (auto collapse = llvm::dyn_cast<tensor::CollapseShapeOp>(op)) {
      Size product;
      const mlir::ReassociationIndices parts = collapse.getReassociationIndices()[dimension];
      for (const int64_t d : parts) {
        const std::optional<Size> part = size_of(collapse.getSrc(), static_cast<unsigned>(d));
        if (!part) return std::nullopt;
        product.multiply(*part);
      }
      return product;
    }
    return std::nullopt;
  }

  std::optional<Size> number_of(Value value) {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      return word(KernelConstant::Source::kArgument, argument.getArgNumber(), 0);
    }
    if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
      const std::optional<int64_t> dimension = dim.getConstantIndex();
      return dimension ? size_of(dim.getSource(), static_cast<unsigned>(*dimension)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Size> word(KernelConstant::Source source, unsigned index, unsigned dimension) const {
    for (const KernelConstant& constant : kernel_.constants) {
      const bool is_it = constant.source == source && constant.index == index && constant.dimension == dimension;
      if (is_it && constant.word_count == 1) return Size{1, {constant.word}};
    }
    return std::nullopt;
  }

  std::string text() const {
    std::string sum;
    for (const auto& [words, factor] : terms_) {
      if (factor == 0) continue;
      sum += (sum.empty() ? "" : " + ") + std::to_string(factor);
      for (const unsigned each : words) sum += "*w" + std::to_string(each);
    }
    return sum;
  }

  mlir::func::FuncOp group_;
  const Kernel& kernel_;
  std::map<std::vector<unsigned>, uint64_t> terms_;
};

}  // namespace

std::string count_flops(mlir::func::FuncOp group, const Kernel& kernel) { return Counter(group, kernel).count(); }

}  // namespace baton::compiler_lite::codegen
