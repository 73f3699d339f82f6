#include "compiler-lite/specs/spec_file.hpp"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite::specs {

mlir::OwningOpRef<mlir::ModuleOp> read_spec(mlir::ModuleOp program, llvm::StringRef what, llvm::StringRef path) {
  mlir::MLIRContext* context = program.getContext();
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "The " << what << " " << path << " cannot be read: " << file.getError().message() << ".";
    return nullptr;
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  const mlir::ParserConfig config(context);
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
}

}  // namespace baton::compiler_lite::specs
