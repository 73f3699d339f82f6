#include "hal/drivers/vulkan/kept_blocks.hpp"

#include <algorithm>

namespace baton::hal::drivers::vulkan {
namespace {

// What an eighth of a large block may be too much, a few granules of a small one may be.
constexpr uint64_t kSlack = 1024;

bool fits(const Block& block, uint64_t length) {
  return block.length >= length && block.length - length <= std::max(length / 8, kSlack);
}

}  // namespace

// The youngest ones are looked at first: what they hold may be in a cache.
std::optional<Block> KeptBlocks::take(uint32_t type, uint64_t length, uint64_t owner) {
  auto found = blocks_.end();
  for (auto each = blocks_.end(); each != blocks_.begin();) {
    --each;
    if (each->slab->type != type || !fits(*each, length)) continue;
    const bool own = owner != MemoryOwner::kNobody && each->owner == owner;
    if (own || (!each->slab->ranges && found == blocks_.end())) found = each;
    if (own) break;
  }
  if (found == blocks_.end()) return std::nullopt;
  const Block taken = *found;
  blocks_.erase(found);
  bytes_ -= taken.length;
  return taken;
}

std::vector<Block> KeptBlocks::keep(const Block& block) {
  std::vector<Block> leaving;
  blocks_.push_back(block);
  bytes_ += block.length;
  while (bytes_ > bytes_max_ || blocks_.size() > kCountMax) {
    leaving.push_back(blocks_.front());
    bytes_ -= blocks_.front().length;
    blocks_.pop_front();
  }
  return leaving;
}

std::vector<Block> KeptBlocks::take_all() {
  std::vector<Block> all(blocks_.begin(), blocks_.end());
  blocks_.clear();
  bytes_ = 0;
  return all;
}

}  // namespace baton::hal::drivers::vulkan
