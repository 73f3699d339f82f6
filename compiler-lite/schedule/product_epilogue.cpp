#include "compiler-lite/schedule/product_epilogue.hpp"

#include <cmath>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

// What a body computes of two numbers, in doubles: functions are written in many ways, and are told by their values.
class Evaluation {
 public:
  // Each value stands for a number.
  explicit Evaluation(llvm::DenseMap<Value, double> known) : known_(std::move(known)) {}

  // Nothing where an operation isn't known here.
  std::optional<double> of(Value value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    const std::optional<double> number = compute(value);
    if (number) known_[value] = *number;
    return number;
  }

 private:
  std::optional<double> compute(Value value) {
    mlir::FloatAttr constant;
    if (mlir::matchPattern(value, mlir::m_Constant(&constant))) return constant.getValueAsDouble();
    mlir::Operation* op = value.getDefiningOp();
    if (!op || op->getNumOperands() == 0 || op->getNumOperands() > 2) return std::nullopt;
    const std::optional<double> a = of(op->getOperand(0));
    if (!a) return std::nullopt;
    if (llvm::isa<arith::ExtFOp, arith::TruncFOp>(op)) return a;
    if (llvm::isa<arith::NegFOp>(op)) return -*a;
    if (llvm::isa<mlir::math::TanhOp>(op)) return std::tanh(*a);
    if (llvm::isa<mlir::math::ExpOp>(op)) return std::exp(*a);
    if (llvm::isa<mlir::math::ErfOp>(op)) return std::erf(*a);
    if (auto power = llvm::dyn_cast<mlir::math::FPowIOp>(op)) {
      llvm::APInt exponent;
      if (!mlir::matchPattern(power.getRhs(), mlir::m_ConstantInt(&exponent))) return std::nullopt;
      return std::pow(*a, static_cast<double>(exponent.getSExtValue()));
    }
    const std::optional<double> b = op->getNumOperands() == 2 ? of(op->getOperand(1)) : std::nullopt;
    if (!b) return std::nullopt;
    if (llvm::isa<arith::AddFOp>(op)) return *a + *b;
    if (llvm::isa<arith::SubFOp>(op)) return *a - *b;
    if (llvm::isa<arith::MulFOp>(op)) return *a * *b;
    if (llvm::isa<arith::DivFOp>(op)) return *a / *b;
    if (llvm::isa<mlir::math::PowFOp>(op)) return std::pow(*a, *b);
    return std::nullopt;
  }

  llvm::DenseMap<Value, double> known_;
};

double gelu_by_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double gelu_by_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

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
    if (const std::optional<FoundEpilogue> gelu = match_gelu()) return gelu;
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
  // Of the product's element, or of its sum with another operand's.
  std::optional<FoundEpilogue> match_gelu() {
    FoundEpilogue found{op_};
    found.kind.activation = "gelu";
    Value element, bias;
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Value argument = op_.getMatchingBlockArgument(&operand);
      if (argument.use_empty()) continue;
      if (is_element(argument)) {
        element = argument;
        continue;
      }
      if (bias || !op_.isDpsInput(&operand)) return std::nullopt;
      bias = argument;
      found.kind.bias = true;
      found.bias_operand = static_cast<int>(operand.getOperandNumber());
    }
    return element && is_gelu_of(element, bias) ? std::optional(found) : std::nullopt;
  }
  // Whether its values are those of GELU by tanh, with constants rounded as they may be in halves, and nearer to these than to GELU
  // by the error function.
  bool is_gelu_of(Value element, Value bias) {
    const bool is_half = element.getType().getIntOrFloatBitWidth() < 32;
    const double tolerance = is_half ? 4e-3 : 1e-6;
    double off = 0, off_by_erf = 0;
    for (double x = -6; x <= 6; x += 0.375) {
      const double added = bias ? std::remainder(7 * x, 2.5) : 0;
      llvm::DenseMap<Value, double> known = {{element, x - added}};
      if (bias) known[bias] = added;
      const std::optional<double> y = Evaluation(std::move(known)).of(op_.getBody()->getTerminator()->getOperand(0));
      if (!y || !(std::abs(*y - gelu_by_tanh(x)) <= tolerance * std::max(1.0, std::abs(x)))) return false;
      off += std::abs(*y - gelu_by_tanh(x));
      off_by_erf += std::abs(*y - gelu_by_erf(x));
    }
    return off < off_by_erf;
  }

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
