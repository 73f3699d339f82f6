#include "hal/drivers/local/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "hal/element_value.hpp"

namespace baton::hal::drivers::local {
namespace {

using Sources = std::span<const std::byte* const>;

template <typename T>
T load(const std::byte* from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

// Integers wrap. A NaN stays one, as XLA and NCCL have it for sums; minimum and maximum keep it too.
template <Reduction kReduction, typename T>
T combined(T a, T b) {
  if constexpr (kReduction == Reduction::kProduct) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  } else if constexpr (kReduction == Reduction::kMinimum || kReduction == Reduction::kMaximum) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return kReduction == Reduction::kMinimum ? std::min(a, b) : std::max(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <Reduction kReduction, typename T>
T concluded(T value, size_t ranks) {
  if constexpr (kReduction != Reduction::kAverage) return value;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return static_cast<T>(static_cast<int64_t>(value) / static_cast<int64_t>(ranks));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value / ranks);
  } else if constexpr (std::is_floating_point_v<T>) {
    return value / static_cast<T>(ranks);
  } else {
    return value / static_cast<typename T::value_type>(ranks);
  }
}

template <Reduction kReduction, typename T>
void reduce_numbers(Sources sources, std::byte* target, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T value = load<T>(sources[0], i);
    for (size_t rank = 1; rank < sources.size(); ++rank) value = combined<kReduction>(value, load<T>(sources[rank], i));
    value = concluded<kReduction>(value, sources.size());
    std::memcpy(target + i * sizeof(T), &value, sizeof(T));
  }
}

template <Reduction kReduction>
void reduce_halves(ElementType type, Sources sources, std::byte* target, uint64_t count) {
  const auto at = [&](size_t rank, uint64_t i) { return static_cast<float>(load_float(type, sources[rank] + 2 * i)); };
  for (uint64_t i = 0; i < count; ++i) {
    float value = at(0, i);
    for (size_t rank = 1; rank < sources.size(); ++rank) value = combined<kReduction>(value, at(rank, i));
    store_float(type, static_cast<double>(concluded<kReduction>(value, sources.size())), target + 2 * i);
  }
}

// 0 and 1: sum and maximum are "or", product and minimum are "and".
template <Reduction kReduction>
void reduce_bits(Sources sources, std::byte* target, uint64_t count) {
  constexpr bool kAnd = kReduction == Reduction::kProduct || kReduction == Reduction::kMinimum;
  for (uint64_t i = 0; i < count; ++i) {
    bool value = kAnd;
    for (const std::byte* source : sources) {
      const bool bit = source[i] != std::byte{0};
      value = kAnd ? value && bit : value || bit;
    }
    target[i] = std::byte{value};
  }
}

// Complex numbers have no order: validation refuses minimum and maximum.
template <Reduction kReduction, typename T>
void reduce_complex(Sources sources, std::byte* target, uint64_t count) {
  if constexpr (kReduction != Reduction::kMinimum && kReduction != Reduction::kMaximum) {
    reduce_numbers<kReduction, std::complex<T>>(sources, target, count);
  }
}

template <Reduction kReduction>
void reduce_as(ElementType type, Sources sources, std::byte* target, uint64_t count) {
  switch (type) {
    case ElementType::kI1: return reduce_bits<kReduction>(sources, target, count);
    case ElementType::kI8:
    case ElementType::kS8: return reduce_numbers<kReduction, int8_t>(sources, target, count);
    case ElementType::kI16:
    case ElementType::kS16: return reduce_numbers<kReduction, int16_t>(sources, target, count);
    case ElementType::kI32:
    case ElementType::kS32: return reduce_numbers<kReduction, int32_t>(sources, target, count);
    case ElementType::kI64:
    case ElementType::kS64: return reduce_numbers<kReduction, int64_t>(sources, target, count);
    case ElementType::kU8: return reduce_numbers<kReduction, uint8_t>(sources, target, count);
    case ElementType::kU16: return reduce_numbers<kReduction, uint16_t>(sources, target, count);
    case ElementType::kU32: return reduce_numbers<kReduction, uint32_t>(sources, target, count);
    case ElementType::kU64: return reduce_numbers<kReduction, uint64_t>(sources, target, count);
    case ElementType::kF16:
    case ElementType::kBF16: return reduce_halves<kReduction>(type, sources, target, count);
    case ElementType::kF32: return reduce_numbers<kReduction, float>(sources, target, count);
    case ElementType::kF64: return reduce_numbers<kReduction, double>(sources, target, count);
    case ElementType::kC64: return reduce_complex<kReduction, float>(sources, target, count);
    case ElementType::kC128: return reduce_complex<kReduction, double>(sources, target, count);
    case ElementType::kNone: return;
  }
}

}  // namespace

void reduce_elements(ElementType type, Reduction reduction, Sources sources, std::byte* target, uint64_t count) {
  switch (reduction) {
    case Reduction::kSum: return reduce_as<Reduction::kSum>(type, sources, target, count);
    case Reduction::kProduct: return reduce_as<Reduction::kProduct>(type, sources, target, count);
    case Reduction::kMinimum: return reduce_as<Reduction::kMinimum>(type, sources, target, count);
    case Reduction::kMaximum: return reduce_as<Reduction::kMaximum>(type, sources, target, count);
    case Reduction::kAverage: return reduce_as<Reduction::kAverage>(type, sources, target, count);
    case Reduction::kNone: return;
  }
}

}  // namespace baton::hal::drivers::local
