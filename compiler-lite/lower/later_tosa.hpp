// Programs in TOSA 1.0, which later versions of MLIR write: in the form of MLIR 19's tosa, where that has a word for each of
// their operations. Lists of sizes, permutations, shifts and zero points change places between operands and attributes.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::lower {

struct EarlierTosa {
  std::string text;
  std::string diagnostics;  // Where an operation has no such form: which, and what would do.
};

// Nothing where the source is no such program.
std::optional<EarlierTosa> earlier_tosa(llvm::StringRef source, llvm::StringRef name);

}  // namespace baton::compiler_lite::lower
