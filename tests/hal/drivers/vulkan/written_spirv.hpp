// WrittenSpirv: a kernel "m" that a test writes instruction by instruction; its function is id 1.
// Threads: plain values.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "hal/drivers/vulkan/spirv_module.hpp"

namespace baton::hal::drivers::vulkan {

struct WrittenSpirv {
  explicit WrittenSpirv(uint32_t bound, bool has_kernel = true) : words{0x07230203, 0x00010500, 0, bound, 0} {
    if (!has_kernel) return;
    add(15, {5, 1, 'm'});
    add(16, {1, 17, 1, 1, 1});
  }
  void add(uint32_t op, std::span<const uint32_t> operands) {
    words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
    words.insert(words.end(), operands.begin(), operands.end());
  }
  void add(uint32_t op, std::initializer_list<uint32_t> operands) {
    add(op, std::span(operands.begin(), operands.size()));
  }
  // The kernel's function, which loads from `variables`.
  void add_function(std::initializer_list<uint32_t> variables) {
    add(54, {2, 1, 0, 3});
    for (const uint32_t variable : variables) add(61, {2, 4, variable});
    add(56, std::initializer_list<uint32_t>{});
  }
  Result<SpirvModule> read(std::span<const uint32_t> constants = {}) const {
    return read_spirv(std::as_bytes(std::span(words)), constants);
  }

  std::vector<uint32_t> words;
};

}  // namespace baton::hal::drivers::vulkan
