// SpirvModule: what Baton reads in SPIR-V before a driver sees it: entry points, their workgroups, and how they take
// their arguments. Never links Vulkan.
//
// The structure is always checked: every instruction inside the bytes, every string ended, every id that is looked at
// below the bound and defined once, every entry point a function. It is no full validation (spirv-val is); code that
// passes is trusted as other device code is.
// Threads: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/vulkan/spirv_declarations.hpp"

namespace baton::hal::drivers::vulkan {

// How floats of one size are to be computed.
struct SpirvFloatMode {
  uint32_t mode = 0;
  uint32_t width = 0;
  bool operator<(const SpirvFloatMode& other) const {
    return mode != other.mode ? mode < other.mode : width < other.width;
  }
};

struct SpirvEntryPoint {
  std::string name;
  uint32_t function = 0;
  uint32_t workgroup_size[3] = {1, 1, 1};
  uint64_t shared_bytes = 0;
  // By address: eight bytes of push constants are the address of the dispatch's record. Else descriptors of set 0.
  bool by_address = false;
  uint32_t binding_count = 0;  // One more than the highest binding; 0 by address.
  uint32_t push_bytes = 0;
  std::vector<SpirvMember> push_members = {};    // Of the block of push constants.
  std::vector<SpirvMember> record_members = {};  // By address, of the record; empty: its type is not said.
  // Bit i: binding i ends with elements of less than a word, and the kernel may ask how many. Its range ends with the last
  // one; others are rounded up to words, because kernels read words where elements are smaller.
  uint64_t small_elements = 0;
  bool folds_grid = false;  // spirv::kFoldsGrid says so.
  bool hands_over = false;  // spirv::kHandsOver says so.
  std::vector<SpirvFloatMode> float_modes = {};
};

struct SpirvModule {
  uint32_t version = 0;  // 0x00010500 is 1.5.
  std::vector<uint32_t> capabilities;
  std::vector<SpirvEntryPoint> entry_points;  // Those for compute.
  std::vector<AccessCheck> access_checks;     // Of kernels that check their accesses.
  std::vector<SpirvSpecialized> specialized;  // The specialization constants that the code declares.
  bool sizes_by_id = false;                   // Constants say the size of some workgroup in a mode of its entry point.
};

// Of ids in a module: the specification's own limit.
inline constexpr uint32_t kIdsMax = 0x3fffff;

// The words of code whose header is good.
Result<std::vector<uint32_t>> spirv_words(std::span<const std::byte> code);

// `constants`: specialization, by id, a word each and two of 64 bits; sizes of workgroups may depend on them. INVALID_ARGUMENT with the reason, and the
// word where it was seen.
Result<SpirvModule> read_spirv(std::span<const std::byte> code, std::span<const uint32_t> constants = {});

// "1.5".
std::string spirv_version_text(uint32_t version);

}  // namespace baton::hal::drivers::vulkan
