// Memory and numbers that a custom command works on: bindings, spans of device memory in a foreign call, the grid and
// the constants of a dispatch. For recording.hpp.
#pragma once

#include <array>
#include <bit>

#include "modules/sdk/cuda.hpp"
#include "modules/sdk/device.hpp"
#include "modules/sdk/recording.h"
#include "modules/sdk/vulkan.hpp"

namespace baton::sdk {

// A range of a buffer, or of a slot that each execution fills, as elements of T. Binding<const T> is only read.
template <typename T>
class Binding {
 public:
  using Element = std::remove_const_t<T>;

  explicit Binding(const baton_binding& range, uint64_t told = 0) : range_(range), told_(told) {
    if (!range_.access) range_.access = std::is_const_v<T> ? BATON_ACCESS_READ : BATON_ACCESS_READ_WRITE;
  }
  Binding(const Buffer& buffer, uint64_t offset_bytes = 0, uint64_t length_bytes = kWholeLength)
      : Binding(baton_binding{buffer.handle(), 0, 0, offset_bytes,
                              length_bytes == kWholeLength ? buffer.length() - offset_bytes : length_bytes}) {}
  // What may be written may be read.
  operator Binding<const Element>() const requires(!std::is_const_v<T>) {
    baton_binding range = range_;
    range.access = BATON_ACCESS_READ;
    return Binding<const Element>(range, told_);
  }

  // Elements; kWholeLength for a slot that is taken as a whole, whose length only each execution knows.
  uint64_t size() const { return range_.length == kWholeLength ? kWholeLength : range_.length / sizeof(T); }
  uint64_t size_bytes() const { return range_.length; }
  uint64_t offset_bytes() const { return range_.offset; }
  // BATON_ELEMENT_*, and the rank of the tensor, as the program stated them; 0 and -1 where it didn't.
  uint32_t element_type() const { return BATON_SLOT_ELEMENT_TYPE(told_); }
  int32_t rank() const { return element_type() ? static_cast<int32_t>(BATON_SLOT_RANK(told_)) : -1; }
  bool is_slot() const { return range_.buffer == nullptr; }
  uint32_t slot() const { return range_.slot; }
  const Buffer* buffer() const { return reinterpret_cast<const Buffer*>(range_.buffer); }  // null for a slot
  const baton_binding& range() const { return range_; }

  // `count` elements from `first` on. Whether they are there is checked where they are used.
  Binding subspan(uint64_t first, uint64_t count) const {
    baton_binding part = range_;
    part.offset += first * sizeof(T);
    part.length = count * sizeof(T);
    return Binding(part);
  }
  // The same bytes as elements of another type.
  template <typename Other>
  Binding<Other> as() const {
    return Binding<Other>(range_);
  }

 private:
  baton_binding range_;
  uint64_t told_;  // The slot argument that it came with.
};

// A binding of any type, in the lists that dispatches take.
struct AnyBinding : baton_binding {
  template <typename T>
  AnyBinding(const Binding<T>& binding) : baton_binding(binding.range()) {}   // NOLINT: any binding is one
  AnyBinding(const Buffer& whole) : AnyBinding(Binding<std::byte>(whole)) {}  // NOLINT
};
static_assert(sizeof(AnyBinding) == sizeof(baton_binding));

// The elements of a binding as a foreign function gets them.
template <typename T>
class DeviceSpan {
 public:
  explicit DeviceSpan(const baton_device_range& range) : range_(range) {}

  T* data() const { return reinterpret_cast<T*>(range_.address); }  // For the device.
  uint64_t address() const { return range_.address; }
  size_t size() const { return static_cast<size_t>(range_.size / sizeof(T)); }
  uint64_t size_bytes() const { return range_.size; }
  // The same for the host; empty where it cannot see them.
  std::span<T> host() const {
    auto* data = static_cast<T*>(range_.data);
    return {data, data ? size() : 0};
  }

 private:
  baton_device_range range_;
};

// What a foreign function has to enqueue with, until it returns.
class Foreign {
 public:
  explicit Foreign(const baton_foreign_arguments& arguments) : arguments_(arguments) {}

  Device& device() const { return *reinterpret_cast<Device*>(arguments_.device); }
  // Whether the device is of that kind: here.is<Cuda>(). What is special to it is behind here.cuda() and here.vulkan().
  template <typename Kind>
  bool is() const {
    return device().driver() == Kind::kDriver;
  }
  Cuda cuda() const { return Cuda(arguments_.self, arguments_.extension); }
  Vulkan vulkan() const { return Vulkan(arguments_.self, arguments_.extension); }
  // For kinds of device that this header does not know: `out` is a struct of theirs, which begins with its struct_size.
  template <typename Struct>
  Status extension(std::string_view name, Struct& out) const {
    return Status::adopt(arguments_.extension(arguments_.self, {name.data(), name.size()}, &out));
  }

 private:
  const baton_foreign_arguments& arguments_;
};

// Workgroups in x, y, z.
struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

namespace detail {

[[gnu::cold, gnu::noinline]] inline baton_status* refuse_memory(std::string_view kind, size_t binding, size_t element,
                                                                uint64_t size) {
  return failure(StatusCode::kInvalidArgument, "The ", kind, " function takes ", element, "-byte elements as binding ",
                 binding, ", not ", size, " bytes", size % element ? "." : " that are not aligned for them.")
      .release();
}
inline uint64_t address_of(const baton_bytes& bytes) { return reinterpret_cast<uintptr_t>(bytes.data); }
inline uint64_t address_of(const baton_device_range& range) { return range.address; }

// The memory that a table gave holds whole elements of each T; else a failure that names the first that does not.
template <typename... T, typename Memory>
baton_status* check_memory([[maybe_unused]] std::string_view kind, [[maybe_unused]] const Memory* memory) {
  baton_status* refused = nullptr;
  [[maybe_unused]] size_t index = 0;
  [[maybe_unused]] const auto fits = [&]<typename E>(const Memory& one) {
    if (is_whole<E>(one.size) && is_aligned<E>(address_of(one))) [[likely]]
      return ++index, true;
    refused = refuse_memory(kind, index, sizeof(E), one.size);
    return false;
  };
  (void)(fits.template operator()<T>(memory[index]) && ...);
  return refused;
}

template <typename T>
inline constexpr size_t kWords = sizeof(T) <= 4 ? 1 : 2;

template <Number T>
constexpr void append_words(uint32_t*& at, T number) {
  if constexpr (std::same_as<T, bool>) {
    *at++ = number;
  } else if constexpr (sizeof(T) == 4) {
    *at++ = std::bit_cast<uint32_t>(number);
  } else {
    const auto bits = std::bit_cast<uint64_t>(number);
    *at++ = static_cast<uint32_t>(bits);
    *at++ = static_cast<uint32_t>(bits >> 32);
  }
}

}  // namespace detail

// Numbers as the constants of a dispatch: 32-bit words, 64-bit numbers as two, low word first.
template <Number... T>
constexpr std::array<uint32_t, (detail::kWords<T> + ... + 0)> constants(T... numbers) {
  std::array<uint32_t, (detail::kWords<T> + ... + 0)> words{};
  [[maybe_unused]] uint32_t* at = words.data();
  (detail::append_words(at, numbers), ...);
  return words;
}

}  // namespace baton::sdk
