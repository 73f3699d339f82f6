// GGUF, versions 2 and 3: magic, counts, metadata by key, what the tensors are, then their bytes, each at a multiple of
// "general.alignment" (32 unless the metadata says otherwise).
//
// Tensors of plain numbers keep their type. Those in quantized blocks come as the bytes they are: a row of them is as
// many ui8 as its blocks take. Shapes are turned around: GGUF names the dimension that runs fastest first.
//
// The bytes are untrusted: what comes out lies inside them and has the size that its shape asks for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "modules/parameters_module/tensor_entry.hpp"

namespace baton::modules {

Result<std::vector<TensorEntry>> parse_gguf(std::span<const std::byte> file);

}  // namespace baton::modules
