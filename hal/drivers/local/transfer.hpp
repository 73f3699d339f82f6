// How transfers are cut into tiles: stretches that several workers may move at once.
#pragma once

#include "hal/drivers/local/recording.hpp"
#include "hal/drivers/local/work_watch.hpp"

namespace baton::hal::drivers::local {

// Large enough that a worker's wake (5 us) is small beside it, small enough for the L2 cache.
inline constexpr uint64_t kTransferTileBytes = 256 * 1024;

constexpr uint64_t transfer_tiles(uint64_t length) { return (length + kTransferTileBytes - 1) / kTransferTileBytes; }

// What the transfer of a tile is taken to cost until it was measured: 10 GB/s.
inline double transfer_tile_ns(uint64_t length) {
  return 20 + 0.1 * static_cast<double>(length < kTransferTileBytes ? length : kTransferTileBytes);
}

struct Stretch {
  uint64_t offset;
  size_t length;
};
inline Stretch stretch_of(TileRange tiles, uint64_t length) {
  const uint64_t begin = tiles.begin * kTransferTileBytes;
  const uint64_t end = tiles.end * kTransferTileBytes;
  return {begin, static_cast<size_t>((end < length ? end : length) - begin)};
}

// Moves the bytes of `tiles` a few tiles at a time, and stops between them where the call has to end.
template <typename Move>
Status in_stretches(std::string_view noun, WorkLimits* limits, TileRange tiles, uint64_t length, const Move& move) {
  constexpr uint64_t kTiles = 8;
  WorkWatch watch(limits);
  for (uint64_t begin = tiles.begin; begin < tiles.end; begin += kTiles) {
    const Stretch stretch = stretch_of({begin, begin + kTiles < tiles.end ? begin + kTiles : tiles.end}, length);
    if (watch.must_stop()) [[unlikely]]
      return watch.stopped(noun, " of ", length, " bytes was stopped at byte ", stretch.offset);
    move(stretch);
  }
  return {};
}

}  // namespace baton::hal::drivers::local
