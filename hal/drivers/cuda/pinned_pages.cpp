#include "hal/drivers/cuda/pinned_pages.hpp"

namespace baton::hal::drivers::cuda {

PinnedPages& PinnedPages::of_process() {
  static PinnedPages pages;
  return pages;
}

PinnedPages::Range* PinnedPages::find(std::span<std::byte> part) {
  for (Range& range : ranges_) {
    if (range.contains(part)) return &range;
  }
  return nullptr;
}

CUresult PinnedPages::pin(const Symbols& symbols, std::span<std::byte> memory, bool& ours) {
  std::lock_guard lock(mutex_);
  ours = true;
  if (Range* range = find(memory)) {
    ++range->count;
    return CUDA_SUCCESS;
  }
  const CUresult pinned = symbols.cuMemHostRegister(memory.data(), memory.size(),
                                                    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (pinned == CUDA_SUCCESS) ranges_.push_back({memory, 1});
  ours = pinned == CUDA_SUCCESS;
  // Pages that others have pinned are as good.
  return pinned == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED ? CUDA_SUCCESS : pinned;
}

void PinnedPages::unpin(const Symbols& symbols, std::span<std::byte> part) {
  std::lock_guard lock(mutex_);
  Range* range = find(part);
  if (!range || --range->count != 0) return;
  symbols.cuMemHostUnregister(range->memory.data());
  *range = ranges_.back();
  ranges_.pop_back();
}

}  // namespace baton::hal::drivers::cuda
