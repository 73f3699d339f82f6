#include "compiler-lite/codegen/explain.hpp"

#include "llvm/Support/raw_ostream.h"

namespace baton::compiler_lite {

void explain(std::string* explanation, mlir::Location location, const std::string& line) {
  if (!explanation) return;
  llvm::raw_string_ostream stream(*explanation);
  if (const auto place = location->findInstanceOf<mlir::FileLineColLoc>()) {
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  } else {
    stream << "(no line)";
  }
  stream << ": " << line << "\n";
}

}  // namespace baton::compiler_lite
