#include "compiler-lite/specs/pdl_spec.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/specs/flow_dispatch_rewrite.hpp"
#include "compiler-lite/specs/fold_dims.hpp"
#include "compiler-lite/specs/match_log.hpp"
#include "compiler-lite/specs/pdl_candidates.hpp"
#include "compiler-lite/specs/spec_file.hpp"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLTypes.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::Attribute;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::Operation;
using mlir::PatternRewriter;
using mlir::PDLResultList;
using mlir::PDLValue;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
namespace pdl = mlir::pdl;

constexpr llvm::StringLiteral kFlowDispatch = "rewriteAsFlowDispatch";
constexpr llvm::StringLiteral kNoteMatch = "baton.note_match";  // put into each rewrite, to know which patterns matched

// The native functions of one run. What they find wrong is an error at once, and the run fails when it ends.
class NativeFunctions {
 public:
  NativeFunctions(llvm::ArrayRef<pdl::PatternOp> patterns, MatchLog& log) : log_(log) {
    for (const pdl::PatternOp pattern : patterns) keys_.push_back(pattern.getAsOpaquePointer());
  }
  void add_to(mlir::PDLPatternModule& module) {
    module.registerConstraintFunction(
        kCheckElementType, [](PatternRewriter&, PDLResultList&, llvm::ArrayRef<PDLValue> arguments) {
          return mlir::success(is_tensor_of(type_of(arguments[0]), type_of(arguments[1])));
        });
    module.registerRewriteFunction(
        kFlowDispatch, [this](PatternRewriter& rewriter, PDLResultList&, llvm::ArrayRef<PDLValue> arguments) {
          // A rewrite that fails would end the process, so it succeeds without doing anything from the first error on.
          failed_ = failed_ || failed(flow_dispatch(rewriter, arguments));
          return mlir::success();
        });
    module.registerRewriteFunction(
        kNoteMatch, [this](PatternRewriter&, PDLResultList&, llvm::ArrayRef<PDLValue> arguments) {
          const auto index = mlir::cast<mlir::IntegerAttr>(arguments[0].cast<Attribute>()).getInt();
          const mlir::Location where = arguments[1].cast<Operation*>()->getLoc();
          log_.matched(keys_[static_cast<size_t>(index)], where);
          return mlir::success();
        });
  }
  bool has_failed() const { return failed_; }

 private:
  static Type type_of(const PDLValue& value) {
    if (value.isa<Type>()) return value.cast<Type>();
    const auto attribute = mlir::dyn_cast<mlir::TypeAttr>(value.cast<Attribute>());
    return attribute ? attribute.getValue() : Type();
  }
  static llvm::SmallVector<Value> values_of(const PDLValue& value) {
    if (value.isa<Value>()) return {value.cast<Value>()};
    return llvm::to_vector(value.cast<ValueRange>());
  }
  static LogicalResult flow_dispatch(PatternRewriter& rewriter, llvm::ArrayRef<PDLValue> arguments) {
    auto* root = arguments[0].cast<Operation*>();
    const auto name = mlir::dyn_cast<mlir::StringAttr>(arguments[1].cast<Attribute>());
    if (!name || name.empty()) {
      return mlir::emitError(root->getLoc())
             << "The spec names the function of rewriteAsFlowDispatch by " << arguments[1].cast<Attribute>()
             << "; a string that is not empty names one.";
    }
    return rewrite_as_flow_dispatch(rewriter, {root, name.getValue(), values_of(arguments[2]), values_of(arguments[3]),
                                               values_of(arguments[4]), values_of(arguments[5])});
  }

  MatchLog& log_;
  llvm::SmallVector<const void*> keys_;
  bool failed_ = false;
};

// --- what a spec may say ---

bool is_value_or_range(Type type) {
  const auto range = mlir::dyn_cast<pdl::RangeType>(type);
  return mlir::isa<pdl::ValueType>(type) || (range && mlir::isa<pdl::ValueType>(range.getElementType()));
}

LogicalResult check_rewrite_call(pdl::ApplyNativeRewriteOp call) {
  if (call.getName() != kFlowDispatch) {
    return mlir::emitError(call.getLoc())
           << "'" << call.getName() << "' is no native rewrite; '" << kFlowDispatch << "' is one.";
  }
  const llvm::SmallVector<Type> types(call->getOperandTypes());
  const bool fits = types.size() == 6 && call->getNumResults() == 0 && mlir::isa<pdl::OperationType>(types[0]) &&
                    mlir::isa<pdl::AttributeType>(types[1]) &&
                    llvm::all_of(llvm::drop_begin(types, 2), is_value_or_range);
  if (fits) return mlir::success();
  return mlir::emitError(call.getLoc()) << "'" << kFlowDispatch
                                        << "' takes a root operation, a function name, and four lists of "
                                        << "values: inputs, replaced values, their dimensions, other operands.";
}

LogicalResult check_constraint_call(pdl::ApplyNativeConstraintOp call) {
  if (call.getName() != kCheckElementType) {
    return mlir::emitError(call.getLoc())
           << "'" << call.getName() << "' is no native constraint; '" << kCheckElementType << "' is one.";
  }
  const bool fits = call->getNumOperands() == 2 && call->getNumResults() == 0 &&
                    llvm::all_of(call->getOperandTypes(),
                                 [](Type type) { return mlir::isa<pdl::TypeType, pdl::AttributeType>(type); });
  if (fits) return mlir::success();
  return mlir::emitError(call.getLoc()) << "'" << kCheckElementType << "' takes a type and an element type.";
}

// Operations that the pattern makes must exist; their dialects are loaded for it.
LogicalResult check_operation(pdl::OperationOp op) {
  if (!op.getOpName()) return mlir::success();
  mlir::MLIRContext* context = op.getContext();
  context->getOrLoadDialect(op.getOpName()->split('.').first);
  const bool made = op->getParentOfType<pdl::RewriteOp>() != nullptr;
  if (!made || mlir::RegisteredOperationName::lookup(*op.getOpName(), context)) return mlir::success();
  return mlir::emitError(op.getLoc()) << "The spec makes " << *op.getOpName()
                                      << ", an operation that the compiler does not know.";
}

LogicalResult check_external(pdl::RewriteOp op) {
  if (!op.getName() || *op.getName() == kFlowDispatch) return mlir::success();
  return mlir::emitError(op.getLoc()) << "'" << *op.getName() << "' is no native rewrite; '" << kFlowDispatch
                                      << "' is one.";
}

LogicalResult check_spec(ModuleOp spec, llvm::SmallVectorImpl<pdl::PatternOp>& patterns) {
  for (Operation& op : *spec.getBody()) {
    auto pattern = mlir::dyn_cast<pdl::PatternOp>(op);
    if (!pattern)
      return mlir::emitError(op.getLoc()) << op.getName() << " stands in a PDL spec, which is a list of pdl.pattern.";
    patterns.push_back(pattern);
  }
  const mlir::WalkResult walked = spec.walk([](Operation* op) {
    LogicalResult fine = mlir::success();
    if (auto call = mlir::dyn_cast<pdl::ApplyNativeRewriteOp>(op)) fine = check_rewrite_call(call);
    if (auto call = mlir::dyn_cast<pdl::ApplyNativeConstraintOp>(op)) fine = check_constraint_call(call);
    if (auto made = mlir::dyn_cast<pdl::OperationOp>(op)) fine = check_operation(made);
    if (auto rewrite = mlir::dyn_cast<pdl::RewriteOp>(op)) fine = check_external(rewrite);
    return succeeded(fine) ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return mlir::success(!walked.wasInterrupted());
}

// `pdl.rewrite %root with "f"(...)` says the same as a body that calls f; bodies can note their match.
void give_body(pdl::RewriteOp rewrite) {
  if (!rewrite.getName()) return;
  llvm::SmallVector<Value> arguments;
  if (rewrite.getRoot()) arguments.push_back(rewrite.getRoot());
  llvm::append_range(arguments, rewrite.getExternalArgs());
  mlir::OpBuilder builder(rewrite.getContext());
  builder.createBlock(&rewrite.getBodyRegion());
  builder.create<pdl::ApplyNativeRewriteOp>(rewrite.getLoc(), mlir::TypeRange(), *rewrite.getName(), arguments);
  rewrite.removeNameAttr();
  rewrite.getExternalArgsMutable().clear();
}

// Makes the rewrite of each pattern tell when it happens.
void note_matches(llvm::ArrayRef<pdl::PatternOp> patterns) {
  for (auto [index, pattern] : llvm::enumerate(patterns)) {
    pdl::RewriteOp rewrite = pdl::PatternOp(pattern).getRewriter();
    Value root = rewrite.getRoot();
    if (!root) {
      for (auto op : rewrite->getParentOp()->getRegion(0).getOps<pdl::OperationOp>()) root = op.getOp();
    }
    auto builder = mlir::OpBuilder::atBlockBegin(&rewrite.getBodyRegion().front());
    const Value number =
        builder.create<pdl::AttributeOp>(rewrite.getLoc(), pdl::AttributeType::get(builder.getContext()), Value(),
                                         builder.getI64IntegerAttr(static_cast<int64_t>(index)));
    builder.create<pdl::ApplyNativeRewriteOp>(rewrite.getLoc(), mlir::TypeRange(), kNoteMatch,
                                              mlir::ValueRange{number, root});
  }
}

}  // namespace

LogicalResult apply_pdl_spec(ModuleOp program, llvm::StringRef path, bool verbose) {
  mlir::MLIRContext* context = program.getContext();
  context->loadDialect<pdl::PDLDialect, mlir::pdl_interp::PDLInterpDialect>();
  load_dispatch_dialects(context);
  mlir::OwningOpRef<ModuleOp> spec = read_spec(program, "PDL spec", path);
  llvm::SmallVector<pdl::PatternOp> patterns;
  if (!spec || failed(check_spec(*spec, patterns))) return mlir::failure();
  if (patterns.empty())  // The library takes a list of patterns for granted.
    return mlir::emitError(spec->getLoc()) << "The PDL spec " << path << " has no pdl.pattern.";
  spec->walk(give_body);
  for (pdl::PatternOp pattern : patterns) {
    for (auto call : pattern.getRewriter().getBodyRegion().getOps<pdl::ApplyNativeRewriteOp>()) {
      if (failed(check_rewrite_call(call))) return mlir::failure();
    }
  }

  MatchLog log;
  log.begin(verbose);
  for (const pdl::PatternOp pattern : patterns) log_candidates(pattern, program, log);
  note_matches(patterns);
  NativeFunctions functions(patterns, log);
  mlir::PDLPatternModule module(std::move(spec));
  functions.add_to(module);
  const mlir::FrozenRewritePatternSet rewrites(mlir::RewritePatternSet(std::move(module)));
  if (failed(codegen::rewrite_greedily(program, rewrites)) || functions.has_failed()) {
    if (!functions.has_failed())
      mlir::emitError(program.getLoc()) << "The PDL spec " << path << " never comes to an end.";
    return mlir::failure();
  }
  log.report(path);
  if (failed(fold_dims(program))) return mlir::failure();
  mlir::IRRewriter rewriter(context);
  (void)mlir::runRegionDCE(rewriter, program->getRegions());
  return mlir::success();
}

}  // namespace baton::compiler_lite::specs
