// NVIDIA's compiler and linker for device code, NVRTC and nvJitLink, opened when they are first needed: from the CUDA
// toolkit, from pip's wheels, or where the loader finds them. Neither needs a GPU.
//
// What was compiled is kept on disk (CodeCache), by compiler, options, headers, architecture and source; code that
// comes from there opens no compiler at all. Source that may read files (by -I, or by an #include of something that is
// not among its headers) is not kept: nobody knows what it read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "modules/kernel_library/code_cache.hpp"

namespace baton::modules {

struct SourceHeader {
  std::string_view name;  // As the source includes it.
  std::string_view text;
};

struct CompileRequest {
  std::string_view name;  // Of the source, for messages.
  std::string_view source;
  std::string_view arch;                           // "90", "90a".
  std::span<const std::string_view> options = {};  // As nvcc's: "-use_fast_math", "-DBLOCK=64".
  std::span<const SourceHeader> headers = {};
};

// A cubin. The log of what failed is in the failure.
Result<std::vector<std::byte>> compile_cuda(const CompileRequest& request, const CodeCache& cache);

struct LinkInput {
  std::string_view name;  // For messages.
  std::span<const std::byte> bytes;
};

// One cubin from PTX, cubins, objects, archives, fatbins and LTO-IR (told from their bytes; the option -lto is added where
// they need it). UNIMPLEMENTED etc. as
// above.
Result<std::vector<std::byte>> link_cuda(std::string_view arch, std::span<const LinkInput> inputs,
                                         std::span<const std::string_view> options = {});

}  // namespace baton::modules
