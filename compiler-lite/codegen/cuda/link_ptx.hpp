// link_ptx: functions of the user's PTX become part of the PTX that was generated, as text.
//
// What the kernels reach is taken, internal names that meet are renamed, and nothing of the objects can be seen from
// outside: ptxas, in the driver, then inlines and prunes as in code of one file. No toolkit is needed.
#pragma once

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::cuda {

struct PtxObject {
  std::string name;  // For messages.
  llvm::StringRef text;
};

// Empty with the linked text in `code`, or what went wrong, as a sentence.
// `later`: functions that the kernels may still lack.
std::string link_ptx(std::string& code, llvm::ArrayRef<PtxObject> objects, llvm::ArrayRef<std::string> later = {});

}  // namespace baton::compiler_lite::codegen::cuda
