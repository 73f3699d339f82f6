// Variant: finished code of one executable for one kind of device, as drivers take it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace baton::compiler_lite::codegen {

// A kernel in finished code.
struct EntryPoint {
  std::string name;
  unsigned constant_count = 0;
  unsigned binding_count = 0;
  unsigned workgroup_size[3] = {1, 1, 1};
  unsigned local_memory_bytes = 0;
};

struct Variant {
  std::string format;  // "embedded-elf-x86_64", "cuda-ptx-compute_80"
  std::vector<char> bytes;
  std::string target = {};                    // For people: "sm_80".
  std::vector<EntryPoint> entry_points = {};  // Empty where the code says it, or nobody here knows.
  size_t check_count = 0;                     // How many accesses the kernels check.
};

}  // namespace baton::compiler_lite::codegen
