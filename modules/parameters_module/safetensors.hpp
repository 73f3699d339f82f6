// The safetensors format: eight bytes that say how long the header is, the header in JSON, then the tensors' bytes.
//
//   {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
//
// The header is untrusted: what comes out lies inside the file and has the size that its shape asks for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "modules/parameters_module/tensor_entry.hpp"

namespace baton::modules {

// DATA_LOSS with the place in the header for anything else than that.
Result<std::vector<TensorEntry>> parse_safetensors(std::span<const std::byte> file);

}  // namespace baton::modules
