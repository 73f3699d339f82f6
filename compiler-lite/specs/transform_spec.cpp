// A transform spec is a library with an entry, `@__transform_main`, which takes the program's module.
#include "compiler-lite/specs/transform_spec.hpp"

#include "compiler-lite/specs/match_log.hpp"
#include "compiler-lite/specs/spec_file.hpp"
#include "compiler-lite/specs/transform_ops.hpp"
#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::ArrayAttr;
using mlir::ModuleOp;
using mlir::Operation;
using mlir::StringAttr;
namespace transform = mlir::transform;

constexpr llvm::StringLiteral kEntry = "__transform_main";
// Functions are seen under either name: programs are written with func.func, and are util.func when specs run.
constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kSameOps[] = {
    {"func.func", "util.func"}, {"func.call", "util.call"}, {"func.return", "util.return"}};

// The list with the other name of each function op behind it.
ArrayAttr with_both_names(ArrayAttr names) {
  llvm::SmallVector<mlir::Attribute> all(names.begin(), names.end());
  const auto add = [&](llvm::StringRef have, llvm::StringRef also) {
    const auto other = StringAttr::get(names.getContext(), also);
    if (llvm::is_contained(names, StringAttr::get(names.getContext(), have)) && !llvm::is_contained(all, other)) {
      all.push_back(other);
    }
  };
  for (const auto& [one, two] : kSameOps) {
    add(one, two);
    add(two, one);
  }
  return ArrayAttr::get(names.getContext(), all);
}

// A call to a function of either kind, where MLIR's op of this meaning only knows func.func.
void replace_call(transform::CastAndCallOp op) {
  mlir::OpBuilder builder(op);
  auto ours = builder.create<CastAndCallOp>(op.getLoc(), op->getResultTypes(), op.getInsertionPoint(),
                                            op.getInsertAfter(), /*inline_call=*/false, op.getInputs(), op.getOutputs(),
                                            op.getFunctionNameAttr(), op.getFunction());
  ours.getConversions().takeBody(op.getConversions());
  op->replaceAllUsesWith(ours);
  op.erase();
}

// Makes the spec speak of functions as this compiler has them.
void adapt(ModuleOp spec) {
  spec.walk([](Operation* op) {
    if (auto match = mlir::dyn_cast<transform::MatchOp>(op); match && match.getOps()) {
      match.setOpsAttr(with_both_names(*match.getOps()));
    } else if (auto name = mlir::dyn_cast<transform::MatchOperationNameOp>(op)) {
      name.setOpNamesAttr(with_both_names(name.getOpNames()));
    } else if (auto call = mlir::dyn_cast<transform::CastAndCallOp>(op)) {
      replace_call(call);
    }
  });
}

transform::NamedSequenceOp find_entry(ModuleOp spec, llvm::StringRef path) {
  auto entry = spec.lookupSymbol<transform::NamedSequenceOp>(kEntry);
  if (!entry) {
    mlir::emitError(spec.getLoc()) << "The transform spec " << path << " has no transform.named_sequence @" << kEntry
                                   << ".";
    return nullptr;
  }
  if (entry.getFunctionType().getNumInputs() != 1 || entry.isExternal()) {
    mlir::emitError(entry.getLoc()) << "@" << kEntry
                                    << " takes one handle, the program's module, and has a body; this one takes "
                                    << entry.getFunctionType().getNumInputs()
                                    << (entry.isExternal() ? " and has none." : ".");
    return nullptr;
  }
  return entry;
}

}  // namespace

mlir::LogicalResult apply_transform_spec(ModuleOp program, llvm::StringRef path, bool verbose) {
  mlir::OwningOpRef<ModuleOp> spec = read_spec(program, "transform spec", path);
  if (!spec) return mlir::failure();
  transform::NamedSequenceOp entry = find_entry(*spec, path);
  if (!entry) return mlir::failure();
  adapt(*spec);

  MatchLog& log = MatchLogPlace::log(spec->getContext());
  log.begin(verbose);
  spec->walk(
      [&](MatchDagOp op) { log.declare(op, op.getLoc(), op.getBody().front().back().getName().getStringRef()); });
  const mlir::LogicalResult applied =
      transform::applyTransforms(program, entry, {}, transform::TransformOptions().enableExpensiveChecks(true),
                                 /*enforceToplevelTransformOp=*/false);
  if (failed(applied)) return applied;
  log.report(path);
  log.begin(/*verbose=*/false);
  return mlir::success();
}

}  // namespace baton::compiler_lite::specs
