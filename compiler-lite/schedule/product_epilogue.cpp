#include "compiler-lite/schedule/product_epilogue.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Value;

linalg::GenericOp only_reader(linalg::LinalgOp product) {
  linalg::GenericOp reader;
  for (mlir::Operation* user : product->getResult(0).getUsers()) {
    if (llvm::isa<mlir::tensor::DimOp>(user)) continue;
    if (reader || user->getBlock() != product->getBlock()) return {};
    reader = llvm::dyn_cast<linalg::GenericOp>(user);
    if (!reader) return {};
  }
  return reader;
}

// Element by element, each operand but a bias where the result is.
bool goes_along(linalg::GenericOp op, Value product) {
  if (op.getNumReductionLoops() != 0 || op->getNumResults() != 1 || op.getResultTypes()[0] != product.getType()) {
    return false;
  }
  int reads = 0;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (operand.get() != product) continue;
    ++reads;
    if (!op.getMatchingIndexingMap(&operand).isIdentity()) return false;
  }
  return reads == 1 && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

bool is_zero(Value value) { return mlir::matchPattern(value, mlir::m_AnyZeroFloat()); }

// The other operand of a commutative operation that has one for which `is` holds; null otherwise.
Value other_of(Value value, llvm::StringRef name, llvm::function_ref<bool(Value)> is) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != name) return {};
  if (is(op->getOperand(0))) return op->getOperand(1);
  return is(op->getOperand(1)) ? op->getOperand(0) : Value();
}

// Whether an operand is one number for each column of the result.
bool is_by_column(linalg::GenericOp op, mlir::OpOperand* operand, linalg::LinalgOp product,
                  const codegen::ProductForm& form) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(operand), c = product.getIndexingMapsArray()[2];
  if (!map.isProjectedPermutation() || map.getNumResults() == 0) return false;
  // The columns are the last dimensions of C; with others between them they are no single one.
  const unsigned first = c.getNumResults() - map.getNumResults();
  if (form.other_columns.size() + 1 != map.getNumResults()) return false;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    const unsigned loop = c.getDimPosition(first + i);
    if (loop != form.columns && !llvm::is_contained(form.other_columns, loop)) return false;
    if (map.getDimPosition(i) != first + i) return false;
  }
  return true;
}

class Body {
 public:
  Body(linalg::GenericOp op, linalg::LinalgOp product) : op_(op), product_(product->getResult(0)) {}

  // The product's element, or that and another operand's, in the activation that is found.
  std::optional<FoundEpilogue> match() {
    FoundEpilogue found{op_};
    Value value = op_.getBody()->getTerminator()->getOperand(0);
    for (const char* maximum : {"arith.maximumf", "arith.maxnumf"}) {
      const Value inner = other_of(value, maximum, is_zero);
      if (!inner) continue;
      found.kind.activation = "relu";
      value = inner;
      break;
    }
    if (is_element(value)) return found.kind.activation.empty() ? std::nullopt : std::optional(found);
    const Value bias = other_of(value, "arith.addf", [&](Value each) { return is_element(each); });
    const auto argument = llvm::dyn_cast_or_null<mlir::BlockArgument>(bias);
    if (!argument || argument.getOwner() != op_.getBody() || argument.getArgNumber() >= op_.getNumDpsInputs()) {
      return std::nullopt;
    }
    found.kind.bias = true;
    found.bias_operand = static_cast<int>(argument.getArgNumber());
    return found;
  }

 private:
  bool is_element(Value value) {
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    return argument && argument.getOwner() == op_.getBody() && argument.getArgNumber() < op_->getNumOperands() &&
           op_->getOperand(argument.getArgNumber()) == product_;
  }

  linalg::GenericOp op_;
  Value product_;
};

}  // namespace

std::optional<FoundEpilogue> find_epilogue(linalg::LinalgOp product, const codegen::ProductForm& form) {
  const linalg::GenericOp reader = only_reader(product);
  if (!reader || !goes_along(reader, product->getResult(0))) return std::nullopt;
  std::optional<FoundEpilogue> found = Body(reader, product).match();
  if (!found || found->bias_operand < 0) return found;
  mlir::OpOperand* bias = &found->op->getOpOperand(static_cast<unsigned>(found->bias_operand));
  const mlir::Type element = mlir::getElementTypeOrSelf(product->getResult(0).getType());
  if (!is_by_column(found->op, bias, product, form)) return std::nullopt;
  return mlir::getElementTypeOrSelf(bias->get().getType()) == element ? found : std::nullopt;
}

}  // namespace baton::compiler_lite::schedule
