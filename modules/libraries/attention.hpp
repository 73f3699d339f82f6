// What a program says of an attention: rows of Q, keys with a row of K and V each, and what each row of Q gives, by sizes and strides in
// elements. The numbers come from a program, so they are looked at before they are used.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

struct Attention {
  static constexpr size_t kSizes = 7, kTensors = 4, kNumbers = kSizes + 2 + 3 * kTensors;
  enum Tensor : size_t { kQ, kK, kV, kResult };
  static constexpr const char* kNames[kTensors] = {"Q", "K", "V", "the result"};

  // Heads of Q follow each other that share a head of K and V.
  int64_t batches = 1, heads = 1, key_heads = 1, rows = 1, keys = 1, depth = 1, width = 1;
  bool is_causal = false;  // Keys behind a row's own place don't count.
  float scale = 1;         // Of scores.
  // Of batches, of heads and of rows, or keys; elements of a row lie beside each other.
  using Strides = std::array<int64_t, 3>;
  std::array<Strides, kTensors> strides = {};

  // In the order of README.md.
  static sdk::Result<Attention> make(const sdk::Variadic<int64_t>& numbers) {
    if (numbers.size() != kNumbers) {
      return sdk::failure(sdk::StatusCode::kInvalidArgument, "Attention is told by ", kNumbers, " numbers, not ",
                          numbers.size(), ".");
    }
    constexpr int64_t kMost = int64_t{1} << 31;
    constexpr size_t kScaleAt = kSizes + 1;
    for (size_t i = 0; i < kNumbers; ++i) {
      if (i == kScaleAt) continue;
      const int64_t least = i < kSizes ? 1 : 0, most = i == kSizes ? 1 : kMost - 1;
      if (numbers[i] >= least && numbers[i] <= most) continue;
      return sdk::failure(sdk::StatusCode::kOutOfRange, "Number ", i, " of an attention is ", numbers[i], "; from ",
                          least, " to ", most, " is possible.");
    }
    Attention made;
    size_t next = 0;
    for (int64_t* each :
         {&made.batches, &made.heads, &made.key_heads, &made.rows, &made.keys, &made.depth, &made.width}) {
      *each = numbers[next++];
    }
    made.is_causal = numbers[next++] != 0;
    made.scale = std::bit_cast<float>(static_cast<int32_t>(numbers[next++]));
    for (Strides& of : made.strides) {
      for (int64_t& stride : of) stride = numbers[next++];
    }
    if (made.heads % made.key_heads == 0) return made;
    return sdk::failure(sdk::StatusCode::kInvalidArgument, made.heads, " heads of Q share no ", made.key_heads,
                        " heads of keys evenly.");
  }

  // Of batches, heads, rows or keys, and elements.
  std::array<int64_t, 4> sizes(Tensor of) const {
    switch (of) {
      case kQ: return {batches, heads, rows, depth};
      case kK: return {batches, key_heads, keys, depth};
      case kV: return {batches, key_heads, keys, width};
      case kResult: break;
    }
    return {batches, heads, rows, width};
  }
  // Elements that a tensor must have. Each size and stride is below 2^31.
  uint64_t extent(Tensor of) const {
    const std::array<int64_t, 4> all = sizes(of);
    auto reached = static_cast<uint64_t>(all[3]);
    for (size_t i = 0; i < 3; ++i) {
      reached += static_cast<uint64_t>(all[i] - 1) * static_cast<uint64_t>(strides[of][i]);
    }
    return reached;
  }
  sdk::Status check(Tensor of, uint64_t elements) const {
    if (extent(of) <= elements) return {};
    return sdk::failure(sdk::StatusCode::kOutOfRange, "Of an attention, ", kNames[of], " has ", elements,
                        " elements; its sizes and strides reach ", extent(of), ".");
  }

  std::string describe() const {
    return std::to_string(batches) + "x" + std::to_string(heads) + " heads, " + std::to_string(rows) + " rows of " +
           std::to_string(keys) + " keys, " + std::to_string(depth) + " elements" + (is_causal ? ", causal" : "");
  }
};

}  // namespace baton::libraries
