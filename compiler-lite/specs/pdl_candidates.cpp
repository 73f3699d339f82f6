#include "compiler-lite/specs/pdl_candidates.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
namespace pdl = mlir::pdl;

template <typename... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

llvm::StringRef name_of(Operation* op) { return op->getName().getStringRef(); }

// One comparison. Values of the pattern are bound to what they stand for in the program.
class Comparison {
 public:
  explicit Comparison(pdl::PatternOp pattern) : pattern_(pattern) {}

  std::optional<Difference> run(pdl::OperationOp sink, Operation* candidate) {
    if (operation(sink, candidate)) constraints(candidate);
    return std::move(difference_);
  }

 private:
  bool operation(pdl::OperationOp want, Operation* have);
  bool attributes(pdl::OperationOp want, Operation* have);
  bool operands(pdl::OperationOp want, Operation* have);
  bool operand(Value want, Value have, pdl::OperationOp want_user, Operation* have_user, size_t index);
  bool results(pdl::OperationOp want, Operation* have);
  bool type(Value want, Type have, Operation* where, llvm::StringRef what);
  bool constraints(Operation* where);
  bool differs(Operation* spec, Operation* program, std::string what) {
    difference_.emplace(Difference{spec->getLoc(), program->getLoc(), std::move(what), agreed_});
    return false;
  }

  pdl::PatternOp pattern_;
  llvm::DenseMap<Value, const void*> bound_;  // pattern -> operation, value, type or attribute
  std::optional<Difference> difference_;
  size_t agreed_ = 0;
};

bool Comparison::operation(pdl::OperationOp want, Operation* have) {
  const auto [found, fresh] = bound_.try_emplace(want.getOp(), have);
  if (!fresh) {
    return found->second == have ||
           differs(want, have, join("One operation of the spec stands for two ", name_of(have), " in the program."));
  }
  if (want.getOpName() && *want.getOpName() != name_of(have)) {
    return differs(want, have, join(name_of(have), " stands where the spec has ", *want.getOpName(), "."));
  }
  if (!attributes(want, have) || !results(want, have) || !operands(want, have)) return false;
  ++agreed_;
  return true;
}

bool Comparison::attributes(pdl::OperationOp want, Operation* have) {
  for (const auto [name, value] : llvm::zip_equal(want.getAttributeValueNames(), want.getAttributeValues())) {
    const llvm::StringRef key = mlir::cast<mlir::StringAttr>(name).getValue();
    const Attribute found = have->getAttr(key);
    if (!found) return differs(want, have, join("Attribute '", key, "' of ", name_of(have), " is absent."));
    auto attribute = value.getDefiningOp<pdl::AttributeOp>();
    if (!attribute) continue;
    if (attribute.getValue() && *attribute.getValue() != found) {
      return differs(want, have,
                     join("Attribute '", key, "' of ", name_of(have), " is ", found, " where the spec has ",
                          *attribute.getValue(), "."));
    }
    const auto typed = mlir::dyn_cast<mlir::TypedAttr>(found);
    if (attribute.getValueType() && typed &&
        !type(attribute.getValueType(), typed.getType(), have, join("Attribute '", key, "'"))) {
      return false;
    }
    const auto [bound, fresh] = bound_.try_emplace(value, found.getAsOpaquePointer());
    if (!fresh && bound->second != found.getAsOpaquePointer()) {
      return differs(want, have,
                     join("Attribute '", key, "' of ", name_of(have), " is ", found,
                          " where the spec uses one it has used before."));
    }
  }
  return true;
}

bool Comparison::results(pdl::OperationOp want, Operation* have) {
  const mlir::OperandRange types = want.getTypeValues();
  if (types.size() == 1 && mlir::isa<pdl::RangeType>(types.front().getType())) return true;
  if (types.size() != have->getNumResults()) {
    return differs(
        want, have,
        join(name_of(have), " has ", have->getNumResults(), " results where the spec has ", types.size(), "."));
  }
  for (const auto [index, wanted, found] : llvm::enumerate(types, have->getResultTypes())) {
    if (mlir::isa<pdl::RangeType>(wanted.getType())) return true;
    if (!type(wanted, found, have, join("Result ", index))) return false;
  }
  return true;
}

bool Comparison::operands(pdl::OperationOp want, Operation* have) {
  const mlir::OperandRange values = want.getOperandValues();
  for (const Value value : values) {
    if (mlir::isa<pdl::RangeType>(value.getType())) return true;
  }
  // No operands in a pattern means any operands.
  if (values.empty()) return true;
  if (values.size() != have->getNumOperands()) {
    return differs(
        want, have,
        join(name_of(have), " has ", have->getNumOperands(), " operands where the spec has ", values.size(), "."));
  }
  for (const auto [index, wanted, found] : llvm::enumerate(values, have->getOperands())) {
    if (!operand(wanted, found, want, have, index)) return false;
  }
  return true;
}

bool Comparison::operand(Value want, Value have, pdl::OperationOp want_user, Operation* have_user, size_t index) {
  const auto [found, fresh] = bound_.try_emplace(want, have.getAsOpaquePointer());
  if (!fresh) {
    return found->second == have.getAsOpaquePointer() ||
           differs(want_user, have_user,
                   join("Operand ", index, " of ", name_of(have_user), " is not the value that the spec uses again."));
  }
  if (auto input = want.getDefiningOp<pdl::OperandOp>()) {
    return !input.getValueType() || type(input.getValueType(), have.getType(), have_user, join("Operand ", index));
  }
  auto result = want.getDefiningOp<pdl::ResultOp>();
  if (!result) return true;
  auto producer = result.getParent().getDefiningOp<pdl::OperationOp>();
  const auto made = mlir::dyn_cast<mlir::OpResult>(have);
  if (!made || made.getResultNumber() != result.getIndex()) {
    return differs(
        want_user, have_user,
        join("Operand ", index, " of ", name_of(have_user), " is ",
             made ? join("result ", made.getResultNumber(), " of ", name_of(made.getOwner()))
                  : std::string("an argument of its block"),
             " where the spec has result ", result.getIndex(), " of ",
             producer && producer.getOpName() ? *producer.getOpName() : llvm::StringRef("an operation"), "."));
  }
  return !producer || operation(producer, made.getOwner());
}

bool Comparison::type(Value want, Type have, Operation* where, llvm::StringRef what) {
  auto wanted = want.getDefiningOp<pdl::TypeOp>();
  if (wanted && wanted.getConstantType() && *wanted.getConstantType() != have) {
    return differs(
        wanted, where,
        join(what, " of ", name_of(where), " has type ", have, " where the spec has ", *wanted.getConstantType(), "."));
  }
  const auto [bound, fresh] = bound_.try_emplace(want, have.getAsOpaquePointer());
  if (fresh || bound->second == have.getAsOpaquePointer()) return true;
  return differs(want.getDefiningOp(), where,
                 join(what, " of ", name_of(where), " has type ", have, " where the spec uses ",
                      Type::getFromOpaquePointer(bound->second), " again."));
}

bool Comparison::constraints(Operation* where) {
  for (auto constraint : pattern_.getBodyRegion().getOps<pdl::ApplyNativeConstraintOp>()) {
    if (constraint.getName() != kCheckElementType || constraint->getNumOperands() != 2) continue;
    auto element = constraint->getOperand(1).getDefiningOp<pdl::TypeOp>();
    const Type have = Type::getFromOpaquePointer(bound_.lookup(constraint->getOperand(0)));
    if (!have || !element || !element.getConstantType() || is_tensor_of(have, *element.getConstantType())) continue;
    return differs(constraint, where, join("Type ", have, " is no ranked tensor of ", *element.getConstantType(), "."));
  }
  return true;
}

// The operation of the pattern whose results no other uses: the end of the expression.
pdl::OperationOp find_sink(pdl::PatternOp pattern) {
  pdl::OperationOp sink;
  for (auto op : pattern.getBodyRegion().getOps<pdl::OperationOp>()) {
    bool used = false;
    for (Operation* user : op.getOp().getUsers()) {
      if (!mlir::isa<pdl::ResultOp, pdl::ResultsOp>(user)) continue;
      used |= llvm::any_of(user->getUsers(), [](Operation* other) {
        return mlir::isa<pdl::OperationOp>(other) && mlir::isa<pdl::PatternOp>(other->getParentOp());
      });
    }
    if (!used) sink = op;
  }
  return sink;
}

}  // namespace

bool is_tensor_of(Type type, Type element) {
  const auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.getElementType() == element;
}

void log_candidates(pdl::PatternOp pattern, mlir::ModuleOp program, MatchLog& log) {
  pdl::OperationOp sink = find_sink(pattern);
  if (!sink || !sink.getOpName()) return;
  log.declare(pattern, pattern.getLoc(), *sink.getOpName());
  program.walk([&](Operation* op) {
    if (name_of(op) != *sink.getOpName()) return;
    if (const std::optional<Difference> difference = Comparison(pattern).run(sink, op)) {
      log.missed(pattern, op, *difference);
    }
  });
}

}  // namespace baton::compiler_lite::specs
