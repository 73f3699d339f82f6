#include "compiler-lite/specs/dag_matcher.hpp"

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::Attribute;
using mlir::Block;
using mlir::Operation;
using mlir::Type;
using mlir::Value;

// MLIR 19 leaves a copy of the indexing maps on named linalg operations once somebody has asked for them.
constexpr llvm::StringLiteral kMemoizedMaps = "linalg.memoized_indexing_maps";

template <typename... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

llvm::StringRef name_of(Operation* op) { return op->getName().getStringRef(); }

std::string origin_of(Value value) {
  if (const auto result = mlir::dyn_cast<mlir::OpResult>(value)) {
    return join("result ", result.getResultNumber(), " of ", name_of(result.getOwner()));
  }
  return join("argument ", mlir::cast<mlir::BlockArgument>(value).getArgNumber(), " of its block");
}

}  // namespace

bool casts_to(Type type, Type wanted) {
  if (type == wanted) return true;
  const auto from = mlir::dyn_cast<mlir::RankedTensorType>(type);
  const auto to = mlir::dyn_cast<mlir::RankedTensorType>(wanted);
  if (!from || !to || from.getRank() != to.getRank() || from.getElementType() != to.getElementType() ||
      from.getEncoding() != to.getEncoding()) {
    return false;
  }
  for (const auto [have, want] : llvm::zip_equal(from.getShape(), to.getShape())) {
    if (!mlir::ShapedType::isDynamic(want) && have != want) return false;
  }
  return true;
}

bool DagMatcher::match(Operation* root) {
  if (!follow(&pattern_.back(), root) || !drain()) return false;
  // Values that regions use from outside may be the first use of what makes them, so there may be more to follow.
  for (Operation& op : pattern_) {
    const auto found = ops_.find(&op);
    if (found == ops_.end() || op.hasAttr(kNameOnly)) continue;
    if (!same_regions(&op, found->second) || !drain()) return false;
  }
  for (const mlir::BlockArgument argument : pattern_.getArguments()) {
    if (values_.contains(argument)) continue;
    return differs(&pattern_.back(), root,
                   join("Input ", argument.getArgNumber(), " of the spec's expression is used by nothing in it."));
  }
  return true;
}

bool DagMatcher::match_regions(Operation* spec, Operation* program) { return same_regions(spec, program) && drain(); }

llvm::SmallVector<Value> DagMatcher::inputs() const {
  llvm::SmallVector<Value> found;
  for (const mlir::BlockArgument argument : pattern_.getArguments()) found.push_back(values_.lookup(argument));
  return found;
}

bool DagMatcher::drain() {
  while (!work_.empty()) {
    const auto [spec, program] = work_.pop_back_val();
    if (!same_operation(spec, program)) return false;
    ++agreed_;
  }
  return true;
}

bool DagMatcher::same_operation(Operation* spec, Operation* program) {
  if (name_of(spec) != name_of(program)) {
    return differs(spec, program, join(name_of(program), " stands where the spec has ", name_of(spec), "."));
  }
  if (spec->hasAttr(kNameOnly)) return true;
  return same_counts(spec, program) && same_attributes(spec, program) && same_types(spec, program) &&
         same_operands(spec, program);
}

bool DagMatcher::same_attributes(Operation* spec, Operation* program) {
  const mlir::DictionaryAttr wanted = spec->getAttrDictionary();
  const mlir::DictionaryAttr found = program->getAttrDictionary();
  if (wanted == found) return true;
  for (const mlir::NamedAttribute& want : wanted) {
    if (want.getName() == kMemoizedMaps) continue;
    const Attribute have = found.get(want.getName());
    if (have == want.getValue()) continue;
    const std::string what = have ? join("is ", have) : "is absent";
    return differs(spec, program,
                   join("Attribute '", want.getName().getValue(), "' of ", name_of(program), " ", what,
                        " where the spec has ", want.getValue(), "."));
  }
  for (const mlir::NamedAttribute& have : found) {
    if (have.getName() == kMemoizedMaps || wanted.contains(have.getName())) continue;
    return differs(spec, program,
                   join("Attribute '", have.getName().getValue(), "' of ", name_of(program), " is ", have.getValue(),
                        " where the spec has none."));
  }
  return true;
}

bool DagMatcher::same_counts(Operation* spec, Operation* program) {
  if (spec->getNumOperands() != program->getNumOperands()) {
    return differs(spec, program,
                   join(name_of(program), " has ", program->getNumOperands(), " operands where the spec has ",
                        spec->getNumOperands(), "."));
  }
  if (spec->getNumResults() != program->getNumResults()) {
    return differs(spec, program,
                   join(name_of(program), " has ", program->getNumResults(), " results where the spec has ",
                        spec->getNumResults(), "."));
  }
  return true;
}

bool DagMatcher::same_types(Operation* spec, Operation* program) {
  const auto check = [&](llvm::StringRef what, mlir::TypeRange have, mlir::TypeRange want) {
    for (const auto [index, type, wanted] : llvm::enumerate(have, want)) {
      if (casts_to(type, wanted)) continue;
      return differs(spec, program,
                     join(what, " ", index, " of ", name_of(program), " has type ", type,
                          ", which does not cast to the spec's ", wanted, "."));
    }
    return true;
  };
  return check("Operand", program->getOperandTypes(), spec->getOperandTypes()) &&
         check("Result", program->getResultTypes(), spec->getResultTypes());
}

bool DagMatcher::same_operands(Operation* spec, Operation* program) {
  for (const auto [index, want, have] : llvm::enumerate(spec->getOperands(), program->getOperands())) {
    if (!same_value(want, have, spec, program, static_cast<unsigned>(index))) return false;
  }
  return true;
}

bool DagMatcher::same_value(Value spec, Value program, Operation* spec_user, Operation* program_user,
                            unsigned operand) {
  const auto [bound, fresh] = values_.try_emplace(spec, program);
  if (!fresh && bound->second == program) return true;
  if (!fresh) {
    return differs(spec_user, program_user,
                   join("Operand ", operand, " of ", name_of(program_user), " is ", origin_of(program),
                        " where the spec uses ", origin_of(bound->second), " again."));
  }
  const auto want = mlir::dyn_cast<mlir::OpResult>(spec);
  if (!want) return true;  // An input of the expression: now bound.
  const auto have = mlir::dyn_cast<mlir::OpResult>(program);
  if (!have || have.getResultNumber() != want.getResultNumber()) {
    return differs(spec_user, program_user,
                   join("Operand ", operand, " of ", name_of(program_user), " is ", origin_of(program),
                        " where the spec has ", origin_of(spec), "."));
  }
  return follow(want.getOwner(), have.getOwner());
}

bool DagMatcher::follow(Operation* spec, Operation* program) {
  const auto [found, fresh] = ops_.try_emplace(spec, program);
  if (fresh) {
    work_.emplace_back(spec, program);
    return true;
  }
  if (found->second == program) return true;
  return differs(spec, program, join("One ", name_of(spec), " of the spec stands for two in the program."));
}

bool DagMatcher::same_regions(Operation* spec, Operation* program) {
  if (spec->getNumRegions() != program->getNumRegions()) {
    return differs(spec, program,
                   join(name_of(program), " has ", program->getNumRegions(), " regions where the spec has ",
                        spec->getNumRegions(), "."));
  }
  for (const auto [index, want, have] : llvm::enumerate(spec->getRegions(), program->getRegions())) {
    const size_t wanted = want.getBlocks().size();
    const size_t found = have.getBlocks().size();
    if (wanted != found) {
      return differs(
          spec, program,
          join("Region ", index, " of ", name_of(program), " has ", found, " blocks where the spec has ", wanted, "."));
    }
    for (const auto [a, b] : llvm::zip_equal(want, have)) blocks_[&a] = &b;
    for (const auto [a, b] : llvm::zip_equal(want, have)) {
      if (!same_block(a, b, spec, program)) return false;
    }
  }
  return true;
}

bool DagMatcher::same_block(Block& spec, Block& program, Operation* spec_parent, Operation* program_parent) {
  if (spec.getNumArguments() != program.getNumArguments()) {
    return differs(spec_parent, program_parent,
                   join("A block of ", name_of(program_parent), " has ", program.getNumArguments(),
                        " arguments where the spec has ", spec.getNumArguments(), "."));
  }
  for (const auto [index, want, have] : llvm::enumerate(spec.getArguments(), program.getArguments())) {
    if (!casts_to(have.getType(), want.getType())) {
      return differs(spec_parent, program_parent,
                     join("Argument ", index, " of a block of ", name_of(program_parent), " has type ", have.getType(),
                          " where the spec has ", want.getType(), "."));
    }
    values_[want] = have;
  }
  for (auto [want, have] : llvm::zip(spec, program)) {
    if (!same_inner(&want, &have)) return false;
  }
  if (spec.getOperations().size() == program.getOperations().size()) return true;
  return differs(spec_parent, program_parent,
                 join("A block of ", name_of(program_parent), " has ", program.getOperations().size(),
                      " operations where the spec has ", spec.getOperations().size(), "."));
}

// An operation inside a region: in its place, so that only what it takes from outside the region is followed.
bool DagMatcher::same_inner(Operation* spec, Operation* program) {
  ops_[spec] = program;
  if (!same_operation(spec, program)) return false;
  for (const auto [want, have] : llvm::zip_equal(spec->getResults(), program->getResults())) values_[want] = have;
  for (const auto [want, have] : llvm::zip(spec->getSuccessors(), program->getSuccessors())) {
    if (blocks_.lookup(want) != have) {
      return differs(spec, program, join(name_of(program), " branches to another block than in the spec."));
    }
  }
  return spec->hasAttr(kNameOnly) || same_regions(spec, program);
}

bool DagMatcher::differs(Operation* spec, Operation* program, std::string what) {
  difference_.emplace(Difference{spec->getLoc(), program->getLoc(), std::move(what), agreed_});
  return false;
}

}  // namespace baton::compiler_lite::specs
