// The dialect `iree_linalg_ext`: what IREE's frontends write beside linalg, in its own form. Operations are read as those of
// any name, with their clauses as attributes; lower/linalg_ext.cpp knows what they do. None is left behind the input.
#pragma once

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace baton::compiler_lite::iree_linalg_ext {

// Operands are ins, then outs, then what other clauses name; this attribute says how many of each.
inline constexpr llvm::StringLiteral kSegments = "operandSegmentSizes";

class LinalgExtDialect final : public mlir::Dialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LinalgExtDialect)
  explicit LinalgExtDialect(mlir::MLIRContext* of);
  static llvm::StringRef getDialectNamespace() { return "iree_linalg_ext"; }
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef operation) const override;
};

}  // namespace baton::compiler_lite::iree_linalg_ext
