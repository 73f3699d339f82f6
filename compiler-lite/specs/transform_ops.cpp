#include "compiler-lite/specs/transform_ops.hpp"

#include <type_traits>

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/specs/dag_matcher.hpp"
#include "compiler-lite/specs/match_log.hpp"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Affine/TransformOps/AffineTransformOps.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/TransformOps/BufferizationTransformOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/MemRef/TransformOps/MemRefTransformOps.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Transform/DebugExtension/DebugExtension.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/PDLExtension/PDLExtension.h"
#include "mlir/Dialect/Vector/TransformOps/VectorTransformOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#define GET_OP_CLASSES
#include "compiler-lite/specs/transform_ops.cpp.inc"

namespace baton::compiler_lite::specs {
namespace {

// The one operation that a handle stands for, or null.
Operation* single(transform::TransformState& handles, Value handle) {
  auto payload = handles.getPayloadOps(handle);
  return llvm::hasSingleElement(payload) ? *payload.begin() : nullptr;
}

// Matchers may walk from one operation to another; some of MLIR 19's operations for that don't say so.
template <typename Op>
struct WalkInMatcher : transform::MatchOpInterface::ExternalModel<WalkInMatcher<Op>, Op> {};
template <typename... Ops>
void let_matchers_walk(MLIRContext* context) {
  const auto attach = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    const auto name = RegisteredOperationName::lookup(Op::getOperationName(), context);
    if (name && !name->template hasInterface<transform::MatchOpInterface>())
      Op::template attachInterface<WalkInMatcher<Op>>(*context);
  };
  (attach(std::type_identity<Ops>()), ...);
}

class SpecOperations : public transform::TransformDialectExtension<SpecOperations> {
 public:
  using Base::Base;
  void init() {
    declareGeneratedDialect<util::UtilDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "compiler-lite/specs/transform_ops.cpp.inc"
        >();
    addCustomInitializationStep([](MLIRContext* context) {
      let_matchers_walk<transform::GetConsumersOfResult, transform::GetDefiningOp, transform::GetOperandOp,
                        transform::GetParentOp, transform::GetProducerOfOperand, transform::GetResultOp,
                        transform::GetTypeOp>(context);
    });
    addDialectDataInitializer<MatchLogPlace>([](MatchLogPlace&) {});
  }
};

}  // namespace

// --- matchers ---

LogicalResult MatchDagOp::verify() {
  if (getBody().front().empty()) return emitOpError() << "has an empty region; its last operation is the root";
  return success();
}

DiagnosedSilenceableFailure MatchDagOp::matchOperation(Operation* current, transform::TransformResults& results,
                                                       transform::TransformState&) {
  MatchLog& log = MatchLogPlace::log(getContext());
  DagMatcher matcher(getBody().front());
  if (!matcher.match(current)) {
    log.missed(getOperation(), current, matcher.difference());
    return emitSilenceableError() << matcher.difference().what;
  }
  log.matched(getOperation(), current->getLoc());
  results.setValues(cast<OpResult>(getInputs()), matcher.inputs());
  results.setValues(cast<OpResult>(getOutputs()), current->getResults());
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure MatchTypeOp::matchValue(Value current, transform::TransformResults&,
                                                    transform::TransformState&) {
  if (casts_to(current.getType(), getTargetType())) return DiagnosedSilenceableFailure::success();
  return emitSilenceableError() << "Type " << current.getType() << " does not cast to " << getTargetType() << ".";
}

LogicalResult MatchDimMultipleOp::verify() {
  if (getSize() > 0) return success();
  return emitOpError() << "asks for a multiple of " << getSize() << "; sizes are 1 and up";
}

DiagnosedSilenceableFailure MatchDimMultipleOp::matchValue(Value current, transform::TransformResults&,
                                                           transform::TransformState&) {
  const auto type = dyn_cast<ShapedType>(current.getType());
  const auto dim = static_cast<int64_t>(getDim());
  const auto size = static_cast<int64_t>(getSize());
  if (!type || !type.hasRank() || dim < 0 || dim >= type.getRank()) {
    return emitSilenceableError() << current.getType() << " has no dimension " << dim << ".";
  }
  if (!type.isDynamicDim(static_cast<unsigned>(dim))) {
    if (type.getDimSize(static_cast<unsigned>(dim)) % size == 0) return DiagnosedSilenceableFailure::success();
    return emitSilenceableError() << "Dimension " << dim << " of " << type << " is no multiple of " << size << ".";
  }
  using Variable = ValueBoundsConstraintSet::Variable;
  const AffineMap rest = AffineMap::get(1, 0, getAffineDimExpr(0, getContext()) % getSize());
  const OpFoldResult zero = Builder(getContext()).getIndexAttr(0);
  const FailureOr<bool> none =
      ValueBoundsConstraintSet::areEqual(Variable(rest, {Variable(current, dim)}), Variable(zero));
  if (succeeded(none) && *none) return DiagnosedSilenceableFailure::success();
  return emitSilenceableError() << "Dimension " << dim << " of " << type << " is not known to be a multiple of " << size
                                << ".";
}

LogicalResult MatchRegionsOp::verify() {
  if (llvm::hasSingleElement(getBody().front())) return success();
  return emitOpError() << "has " << getBody().front().getOperations().size()
                       << " operations in its region; one is what the matched operation is compared with";
}

DiagnosedSilenceableFailure MatchRegionsOp::matchOperation(Operation* current, transform::TransformResults&,
                                                           transform::TransformState&) {
  DagMatcher matcher(getBody().front());
  if (matcher.match_regions(&getBody().front().front(), current)) return DiagnosedSilenceableFailure::success();
  return emitSilenceableError() << matcher.difference().what;
}

// --- symbols ---

void GetNearestSymbolTableOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::onlyReadsPayload(effects);
}

DiagnosedSilenceableFailure GetNearestSymbolTableOp::apply(transform::TransformRewriter&,
                                                           transform::TransformResults& results,
                                                           transform::TransformState& handles) {
  SmallVector<Operation*> tables;
  for (Operation* op : handles.getPayloadOps(getTarget())) {
    Operation* table = SymbolTable::getNearestSymbolTable(op);
    if (!table) return emitSilenceableError() << op->getName() << " stands in no symbol table.";
    tables.push_back(table);
  }
  results.set(cast<OpResult>(getSymbolTable()), tables);
  return DiagnosedSilenceableFailure::success();
}

LogicalResult ImportSymbolOp::verify() {
  if (!getForceImport() || !getIfUndefined()) return success();
  return emitOpError() << "says both `force` and `if undefined`, and they exclude each other";
}

void ImportSymbolOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  transform::onlyReadsHandle(getSymbolTableMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure ImportSymbolOp::apply(transform::TransformRewriter& rewriter,
                                                  transform::TransformResults& results,
                                                  transform::TransformState& handles) {
  Operation* symbol = SymbolTable::lookupNearestSymbolFrom(getOperation(), getSymbolAttr());
  if (!symbol) return emitDefiniteFailure() << "The spec has no symbol " << getSymbolAttr() << " to import.";
  if (!symbol->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    return emitDefiniteFailure() << "Symbol " << getSymbolAttr() << " is a " << symbol->getName()
                                 << ", which is not isolated from what stands around it.";
  }
  Operation* table = single(handles, getSymbolTable());
  if (!table || !table->hasTrait<OpTrait::SymbolTable>()) {
    return emitDefiniteFailure() << "The handle that " << getSymbolAttr()
                                 << " is imported into stands for no single symbol table.";
  }
  const StringAttr name = SymbolTable::getSymbolName(symbol);
  if (Operation* existing = SymbolTable::lookupSymbolIn(table, name)) {
    if (getIfUndefined()) {
      results.set(cast<OpResult>(getImported()), {existing});
      return DiagnosedSilenceableFailure::success();
    }
    if (!getForceImport()) {
      DiagnosedDefiniteFailure error = emitDefiniteFailure();
      error << "The program has a symbol " << getSymbolAttr() << " already.";
      error.attachNote(existing->getLoc()) << "It is this one.";
      return error;
    }
    rewriter.eraseOp(existing);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&table->getRegion(0).front());
  results.set(cast<OpResult>(getImported()), {rewriter.clone(*symbol)});
  return DiagnosedSilenceableFailure::success();
}

// --- cast_and_call ---

LogicalResult CastAndCallOp::verify() {
  if (static_cast<bool>(getFunctionNameAttr()) == static_cast<bool>(getFunction())) {
    return emitOpError() << "names its function by a symbol or by a handle, and "
                         << (getFunction() ? "has both" : "has neither");
  }
  if (getConversions().empty()) return success();
  for (Operation& op : getConversions().front()) {
    if (isa<transform::TypeConverterBuilderOpInterface>(op)) continue;
    InFlightDiagnostic error = emitOpError() << "has conversions that don't make casts";
    error.attachNote(op.getLoc()) << op.getName() << " is one.";
    return error;
  }
  return success();
}

void CastAndCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  transform::onlyReadsHandle(getInsertionPointMutable(), effects);
  transform::onlyReadsHandle(getInputsMutable(), effects);
  transform::onlyReadsHandle(getOutputsMutable(), effects);
  transform::onlyReadsHandle(getFunctionMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

namespace {

// One replacement while it is made.
struct Replacement {
  Operation* point = nullptr;
  FunctionOpInterface callee;
  SmallVector<Value> inputs, outputs;
  TypeConverter converter;
};

// Finds what the handles stand for.
DiagnosedSilenceableFailure find_parts(CastAndCallOp op, transform::TransformState& handles, Replacement& parts) {
  parts.point = single(handles, op.getInsertionPoint());
  if (!parts.point) return op.emitSilenceableError() << "The insertion point is not one operation.";
  if (op.getInputs()) llvm::append_range(parts.inputs, handles.getPayloadValues(op.getInputs()));
  if (op.getOutputs()) llvm::append_range(parts.outputs, handles.getPayloadValues(op.getOutputs()));
  Operation* callee = op.getFunction() ? single(handles, op.getFunction())
                                       : SymbolTable::lookupNearestSymbolFrom(parts.point, op.getFunctionNameAttr());
  parts.callee = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!parts.callee) {
    DiagnosedDefiniteFailure error = op.emitDefiniteFailure();
    if (op.getFunctionNameAttr()) return error << "The program has no function " << op.getFunctionNameAttr() << ".";
    return error << "The handle of the function stands for no single function.";
  }
  if (parts.callee.getNumArguments() != parts.inputs.size() || parts.callee.getNumResults() != parts.outputs.size()) {
    return op.emitSilenceableError() << "Function @" << parts.callee.getName() << " takes "
                                     << parts.callee.getNumArguments() << " values and returns "
                                     << parts.callee.getNumResults() << ", and the match has " << parts.inputs.size()
                                     << " inputs and " << parts.outputs.size() << " outputs.";
  }
  if (!op.getConversions().empty()) {
    for (Operation& conversion : op.getConversions().front()) {
      cast<transform::TypeConverterBuilderOpInterface>(conversion).populateTypeMaterializations(parts.converter);
    }
  }
  return DiagnosedSilenceableFailure::success();
}

// What the call takes must be there before it, and what it replaces must be used after it.
DiagnosedSilenceableFailure check_order(CastAndCallOp op, const Replacement& parts) {
  DominanceInfo dominance;
  for (const Value input : parts.inputs) {
    const bool there = op.getInsertAfter() && input.getDefiningOp() == parts.point;
    if (there || dominance.properlyDominates(input, parts.point)) continue;
    return op.emitSilenceableError() << "An input of the call is made after the place where the call would stand.";
  }
  llvm::SmallPtrSet<Value, 4> seen;
  for (const Value output : parts.outputs) {
    if (!seen.insert(output).second) return op.emitSilenceableError() << "An output is given twice.";
    for (Operation* user : output.getUsers()) {
      const bool after =
          op.getInsertAfter() ? dominance.properlyDominates(parts.point, user) : dominance.dominates(parts.point, user);
      if (after) continue;
      return op.emitSilenceableError() << "An output is used before the place where the call would stand.";
    }
  }
  return DiagnosedSilenceableFailure::success();
}

Operation* make_call(RewriterBase& rewriter, Location loc, FunctionOpInterface callee, ValueRange inputs) {
  if (auto function = dyn_cast<func::FuncOp>(callee.getOperation())) {
    return rewriter.create<func::CallOp>(loc, function, inputs);
  }
  return rewriter.create<util::CallOp>(loc, callee.getName(), callee.getResultTypes(), inputs);
}

// Puts the body of the callee in the place of the call.
LogicalResult inline_body(RewriterBase& rewriter, Operation* call, FunctionOpInterface callee) {
  if (!callee.getFunctionBody().hasOneBlock()) return failure();
  Block& body = callee.getFunctionBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), call->getOperands());
  rewriter.setInsertionPoint(call);
  for (Operation& op : body.without_terminator()) rewriter.clone(op, mapping);
  SmallVector<Value> values;
  for (const Value value : body.getTerminator()->getOperands()) values.push_back(mapping.lookupOrDefault(value));
  rewriter.replaceOp(call, values);
  return success();
}

}  // namespace

DiagnosedSilenceableFailure CastAndCallOp::apply(transform::TransformRewriter& rewriter,
                                                 transform::TransformResults& results,
                                                 transform::TransformState& handles) {
  Replacement parts;
  DiagnosedSilenceableFailure status = find_parts(*this, handles, parts);
  if (!status.succeeded()) return status;
  status = check_order(*this, parts);
  if (!status.succeeded()) return status;

  if (getInsertAfter()) {
    rewriter.setInsertionPointAfter(parts.point);
  } else {
    rewriter.setInsertionPoint(parts.point);
  }
  const Location loc = parts.point->getLoc();
  SmallPtrSet<Operation*, 4> ours;
  SmallVector<Value> operands;
  for (const auto [input, type] : llvm::zip_equal(parts.inputs, parts.callee.getArgumentTypes())) {
    Value operand = input;
    if (input.getType() != type) operand = parts.converter.materializeSourceConversion(rewriter, loc, type, input);
    if (!operand) {
      return emitDefiniteFailure() << "No conversion makes " << type << " of an input of type " << input.getType()
                                   << " for @" << parts.callee.getName() << ".";
    }
    if (operand != input) ours.insert(operand.getDefiningOp());
    operands.push_back(operand);
  }
  Operation* call = make_call(rewriter, loc, parts.callee, operands);
  ours.insert(call);
  for (const auto [output, made] : llvm::zip_equal(parts.outputs, call->getResults())) {
    Value replacement = made;
    if (output.getType() != made.getType()) {
      replacement = parts.converter.materializeTargetConversion(rewriter, loc, output.getType(), made);
    }
    if (!replacement) {
      return emitDefiniteFailure() << "No conversion makes " << output.getType() << " of the " << made.getType()
                                   << " that @" << parts.callee.getName() << " returns.";
    }
    rewriter.replaceUsesWithIf(output, replacement, [&](OpOperand& use) { return !ours.contains(use.getOwner()); });
  }
  results.set(cast<OpResult>(getCall()), {call});
  if (!getInlineCall()) return DiagnosedSilenceableFailure::success();
  results.set(cast<OpResult>(getCall()), ArrayRef<Operation*>());
  if (succeeded(inline_body(rewriter, call, parts.callee))) return DiagnosedSilenceableFailure::success();
  return emitDefiniteFailure() << "Function @" << parts.callee.getName() << " has no single block to inline.";
}

void register_transform_ops(DialectRegistry& registry) {
  registry.addExtensions<SpecOperations>();
  affine::registerTransformDialectExtension(registry);
  bufferization::registerTransformDialectExtension(registry);
  func::registerTransformDialectExtension(registry);
  linalg::registerTransformDialectExtension(registry);
  memref::registerTransformDialectExtension(registry);
  scf::registerTransformDialectExtension(registry);
  tensor::registerTransformDialectExtension(registry);
  transform::registerDebugExtension(registry);
  transform::registerPDLExtension(registry);
  vector::registerTransformDialectExtension(registry);
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
}

}  // namespace baton::compiler_lite::specs
