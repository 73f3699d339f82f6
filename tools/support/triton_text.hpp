// A kernel of Triton's in words: for people, and as an executable for programs in MLIR.
#pragma once

#include <string>

#include "modules/kernel_library/triton.hpp"

namespace baton::tools {

std::string triton_description(const modules::TritonKernel& kernel);

// `signature` is Triton's ("*fp32,i32"), or empty. The executable names the cubin by `path`; a dispatch of it gives as
// many extents of a grid as `grid_rank` says.
Result<std::string> triton_executable(const modules::TritonKernel& kernel, std::string_view signature,
                                      std::string_view path, uint64_t grid_rank);

// The signature of a kernel from what Triton's compiler wrote of it before (<kernel>.ttir).
Result<std::string> triton_signature(std::string_view ttir, std::string_view kernel);

}  // namespace baton::tools
