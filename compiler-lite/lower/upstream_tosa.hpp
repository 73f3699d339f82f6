// Programs in the tosa of MLIR 19. Its dialect has the name of ours, which is a later TOSA's, so a program is read with
// one of them: when it reads in MLIR 19's form, upstream's passes lower it, and what they leave is read again.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::lower {

struct LoweredTosa {
  bool ok = false;
  std::string text;         // The program without tosa, when it is ok.
  std::string diagnostics;  // What was wrong otherwise.
};

// Nothing for a program without tosa, or with another form of it.
std::optional<LoweredTosa> lower_upstream_tosa(llvm::StringRef source, llvm::StringRef name);

}  // namespace baton::compiler_lite::lower
