#include "hal/drivers/cuda/access_watch.hpp"

#include <cstring>

#include "hal/drivers/cuda/executable.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr size_t kPlacesInBlock = 64;

}  // namespace

AccessWatch::~AccessWatch() {
  for (Block& block : blocks_) memory_->give_pinned(std::move(block));
}

Result<CUdeviceptr> AccessWatch::add(const Executable& executable, uint32_t entry_point) {
  const size_t in_block = places_.size() % kPlacesInBlock;
  if (in_block == 0) {
    constexpr size_t kBytes = kPlacesInBlock * sizeof(FailedAccess);
    BATON_TRY_ASSIGN(Block block, memory_->take_staging(kBytes));
    std::memset(block.host, 0, kBytes);
    blocks_.push_back(std::move(block));
  }
  const Block& block = blocks_.back();
  places_.push_back({&executable, entry_point, reinterpret_cast<FailedAccess*>(block.host) + in_block});
  return block.address + in_block * sizeof(FailedAccess);
}

// All places are looked at: they are the next execution's.
Status AccessWatch::call(const HostCallArguments&) {
  Status first;
  for (const Place& place : places_) {
    FailedAccess failed;
    std::memcpy(&failed, place.written, sizeof(failed));
    if (failed.number == 0) continue;
    std::memset(place.written, 0, sizeof(failed));
    if (first.ok()) first = place.executable->access_refused(place.entry_point, failed);
  }
  return first;
}

}  // namespace baton::hal::drivers::cuda
