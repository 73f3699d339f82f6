// Programs in TOSA 1.0, which later versions of MLIR write: in the form of MLIR 19's tosa, where that has a word for each of
// their operations. Lists of sizes, permutations and shifts change places between operands and attributes; zero points that
// are zero are left out.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::lower {

// Nothing where an operation has no such form, or the source is no program.
std::optional<std::string> earlier_tosa(llvm::StringRef source, llvm::StringRef name);

}  // namespace baton::compiler_lite::lower
