#include "compiler-lite/specs/passes.hpp"

#include "compiler-lite/specs/pdl_spec.hpp"
#include "mlir/Pass/Pass.h"

namespace baton::compiler_lite::specs {
namespace {

class ApplySpecs : public mlir::PassWrapper<ApplySpecs, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplySpecs)

  ApplySpecs() = default;
  ApplySpecs(const ApplySpecs& other) : PassWrapper(other), options_(other.options_) {}
  explicit ApplySpecs(SpecOptions options) : options_(std::move(options)) {}

  llvm::StringRef getArgument() const override { return "baton-apply-specs"; }
  llvm::StringRef getDescription() const override { return "Runs transform and PDL specs over a program"; }
  // Specs are read while the pass runs, when no dialect may be loaded any more.
  void getDependentDialects(mlir::DialectRegistry& registry) const override { register_spec_dialects(registry); }

  void runOnOperation() override {
    SpecOptions options = options_;
    if (!transform_.empty()) options.transform_file = transform_;
    if (!pdl_.empty()) options.pdl_file = pdl_;
    if (verbose_) options.verbose = true;
    if (failed(apply_specs(getOperation(), options))) signalPassFailure();
  }

 private:
  SpecOptions options_;
  Option<std::string> transform_{*this, "transform", llvm::cl::desc("The transform spec")};
  Option<std::string> pdl_{*this, "pdl", llvm::cl::desc("The PDL spec")};
  Option<bool> verbose_{*this, "verbose", llvm::cl::desc("A remark for each candidate")};
};

class ApplyPdlPatterns : public mlir::PassWrapper<ApplyPdlPatterns, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyPdlPatterns)

  ApplyPdlPatterns() = default;
  ApplyPdlPatterns(const ApplyPdlPatterns& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const override { return "iree-preprocessing-apply-pdl-patterns"; }
  llvm::StringRef getDescription() const override { return "Rewrites a program by the patterns of a PDL file"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override { register_spec_dialects(registry); }

  void runOnOperation() override {
    if (patterns_.empty()) {
      mlir::emitError(getOperation().getLoc()) << getArgument() << " has no patterns-file.";
      return signalPassFailure();
    }
    if (failed(apply_pdl_spec(getOperation(), patterns_, verbose_))) signalPassFailure();
  }

 private:
  Option<std::string> patterns_{*this, "patterns-file", llvm::cl::desc("The PDL spec")};
  Option<bool> verbose_{*this, "verbose", llvm::cl::desc("A remark for each candidate")};
};

}  // namespace

std::unique_ptr<mlir::Pass> make_apply_specs_pass(SpecOptions options) {
  return std::make_unique<ApplySpecs>(std::move(options));
}

void register_spec_passes() {
  mlir::PassRegistration<ApplySpecs>();
  mlir::PassRegistration<ApplyPdlPatterns>();
}

}  // namespace baton::compiler_lite::specs
