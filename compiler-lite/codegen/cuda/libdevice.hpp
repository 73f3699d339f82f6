// libdevice: the math functions of the CUDA toolkit, as bitcode, in place of ours.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace baton::compiler_lite::codegen::cuda {

// Calls of our math functions become calls of libdevice's, where it has them, and these are linked into `module`;
// empty, or what went wrong.
std::string link_libdevice(llvm::Module& module, const std::string& path);

}  // namespace baton::compiler_lite::codegen::cuda
