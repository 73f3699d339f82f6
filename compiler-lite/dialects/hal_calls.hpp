// HalCalls: how the host program asks for device work: calls of the module `hal`, declared as they are first needed.
//
// Signatures come from modules/hal_module/imports.inc, the rows that the module itself registers; nothing else of the
// compiler states one.
#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite {

class HalCalls {
 public:
  explicit HalCalls(mlir::ModuleOp module);

  // Calls `hal.<name>`, or the name as it is when it begins with `check.`. Its first result; null when it
  // returns nothing.
  mlir::Value call(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef name, mlir::ValueRange operands);
  // The same for one with repeated arguments; `counts` says how often each of them stands.
  mlir::Value call(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef name, mlir::ValueRange operands,
                   llvm::ArrayRef<int32_t> counts);

  mlir::Type device_type() const;
  mlir::Type buffer_type() const;
  mlir::Type fence_type() const;
  mlir::Type executable_type() const;
  mlir::Type recording_type() const;
  mlir::Type kept_recordings_type() const;
  mlir::Type command_buffer_type() const;

  mlir::Value index(mlir::OpBuilder& builder, mlir::Location location, int64_t value);
  mlir::Value i32(mlir::OpBuilder& builder, mlir::Location location, int64_t value);
  mlir::Value bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef text);
  mlir::Value null(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type);

 private:
  llvm::SmallVector<mlir::Type> results_of(llvm::StringRef name);
  void declare(llvm::StringRef name);

  mlir::ModuleOp module_;
  mlir::MLIRContext* context_;
};

}  // namespace baton::compiler_lite
