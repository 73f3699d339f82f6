// The text of TOSA 1.0 as versions of MLIR behind 19 print it: operations of any name, whose attributes stand in braces or as
// clauses, `axis(0)`. later_tosa.cpp makes MLIR 19's operations of them.
#pragma once

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace baton::compiler_lite::lower {

// Operations to be renamed; lists of sizes have no type of MLIR 19, and no operation keeps one.
class LaterTosaDialect final : public mlir::Dialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LaterTosaDialect)
  explicit LaterTosaDialect(mlir::MLIRContext* of)
      : Dialect(getDialectNamespace(), of, mlir::TypeID::get<LaterTosaDialect>()) {
    allowUnknownOperations();
  }
  static llvm::StringRef getDialectNamespace() { return "tosa"; }
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef operation) const override;
  mlir::Type parseType(mlir::DialectAsmParser& parser) const override;
  // A word, as in #tosa.nan_mode<IGNORE>, is a string.
  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type type) const override;
};

}  // namespace baton::compiler_lite::lower
