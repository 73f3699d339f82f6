// only_entry_point: of a module with several entry points what one of them needs. Drivers translate all of a module
// for each pipeline, and validation counts the shared memory of all entry points together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace baton::hal::drivers::vulkan {

// `words` were read by read_spirv; `function` is the entry point's. The whole module where there is anything that
// this doesn't know.
std::vector<uint32_t> only_entry_point(std::span<const uint32_t> words, uint32_t function);

}  // namespace baton::hal::drivers::vulkan
