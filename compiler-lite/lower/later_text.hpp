// What MLIR has written differently since version 19, as MLIR 19 writes it, before the text is parsed: names that have changed
// (linalg.pack is tensor.pack), and maps of products, which make them contractions. Lines stay where they are.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::lower {

struct EarlierText {
  std::string text;
  std::string diagnostics;  // What has no form in MLIR 19: where it stands, and what would do.
};

// Nothing where the text has nothing of it.
std::optional<EarlierText> earlier_text(llvm::StringRef source, llvm::StringRef name);

}  // namespace baton::compiler_lite::lower
