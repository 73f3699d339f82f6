// NumPy's .npy: a magic number, a header in text ({'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }), then
// dense bytes. Several arrays may stand one behind the other in a file.
//
// The bytes are untrusted: what comes out lies inside them and has the size that its shape asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hal/element_type.hpp"

namespace baton::modules {

struct NpyArray {
  hal::ElementType element_type;
  std::vector<int64_t> shape;
  bool is_fortran;                   // The first dimension runs fastest, not the last. Never so below rank 2.
  std::span<const std::byte> bytes;  // In the file.
  size_t end;                        // Where the next array of the file begins, when there is one.
};

// Little-endian elements of the types that tensors have. DATA_LOSS for what NumPy does not write, UNIMPLEMENTED for
// types that no tensor has.
Result<NpyArray> parse_npy(std::span<const std::byte> file);

// The letters behind the byte order: "f4". NumPy lacks bf16, whose bits go as "u2"; integers without a sign's name go
// as signed.
std::string_view numpy_type_name(hal::ElementType type);

}  // namespace baton::modules
