// The parameters of a C++ function behind the door: how each is spelled in a signature, checked and read. For
// function.hpp, which lists the types.
#pragma once

#include <array>
#include <tuple>

#include "modules/sdk/module.h"
#include "modules/sdk/object.hpp"

namespace baton::sdk {

template <typename E>
class Variadic;

namespace detail {

// Stands in export.data, for messages.
struct FunctionName {
  const char* module;
  const char* function;
};

struct Cursor {
  baton_value* values;
  baton_object** refs;
  const uint16_t* segments;
};

// How a parameter of type P is spelled, checked and read:
//   kChecked                        whether mismatch() can find anything
//   write(out)                      appends its signature text
//   mismatch(at)                    moves `at` over it and returns null; or stays and returns the type name it wants
//   read(at)                        moves `at` over it; what it returns is passed to the function
template <typename P>
struct Parameter;

template <typename Out>
constexpr void write_text(Out& out, std::string_view text) {
  for (char c : text) out(c);
}
template <typename Out>
constexpr void write_ref(Out& out, std::string_view type_name) {
  write_text(out, "r<");
  write_text(out, type_name);
  write_text(out, ">");
}

template <Number T>
struct Parameter<T> {
  static constexpr bool kChecked = false;
  static constexpr int kValues = 1, kRefs = 0;
  template <typename Out>
  static constexpr void write(Out& out) {
    out(kLetter<T>);
  }
  static const char* mismatch(Cursor& at) { return ++at.values, nullptr; }
  static T read(Cursor& at) { return load_number<T>(*at.values++); }
};

template <typename T, bool kMayBeNull>
struct RefParameter {
  static constexpr bool kChecked = true;
  static constexpr int kValues = 0, kRefs = 1;
  template <typename Out>
  static constexpr void write(Out& out) {
    write_ref(out, T::kTypeName);
  }
  static const char* mismatch(Cursor& at) {
    const baton_object* given = *at.refs;
    if (given ? given->type != T::object_type() : !kMayBeNull) [[unlikely]]
      return T::kTypeName;
    return ++at.refs, nullptr;
  }
  static T* next(Cursor& at) { return static_cast<T*>(*at.refs++); }  // Of this type: mismatch() was asked before.
};
template <typename T>
requires ObjectClass<std::remove_const_t<T>>
struct Parameter<T&> : RefParameter<std::remove_const_t<T>, false> {
  static T& read(Cursor& at) { return *Parameter::next(at); }
};
template <typename T>
requires ObjectClass<std::remove_const_t<T>>
struct Parameter<T*> : RefParameter<std::remove_const_t<T>, true> {
  static T* read(Cursor& at) { return Parameter::next(at); }
};
template <typename T>
struct Parameter<Ref<T>> : RefParameter<T, true> {
  static Ref<T> read(Cursor& at) { return Ref<T>(Parameter::next(at)); }
};

template <>
struct Parameter<baton_object*> {
  static constexpr bool kChecked = false;
  static constexpr int kValues = 0, kRefs = 1;
  template <typename Out>
  static constexpr void write(Out& out) {
    out('r');
  }
  static const char* mismatch(Cursor& at) { return ++at.refs, nullptr; }
  static baton_object* read(Cursor& at) { return *at.refs++; }
};

template <>
struct Parameter<std::string_view> : RefParameter<Blob, false> {
  static std::string_view read(Cursor& at) { return next(at)->text(); }
};

// "\1range of 4-byte elements": what refuse() writes about elements that what is given does not hold. The first byte is
// its mark.
template <size_t kSize>
consteval auto elements_text(std::string_view mark) {
  std::array<char, 48> text{};
  size_t at = 0;
  const auto append = [&](std::string_view piece) {
    for (char c : piece) text[at++] = c;
  };
  append(mark);
  std::array<char, 20> digits{};
  size_t count = 0;
  for (size_t left = kSize; left || !count; left /= 10) digits[count++] = static_cast<char>('0' + left % 10);
  while (count) text[at++] = digits[--count];
  append("-byte elements");
  return text;
}
template <size_t kSize>
inline constexpr auto kPartialText = elements_text<kSize>("\3");
template <size_t kSize>
inline constexpr auto kUnalignedText = elements_text<kSize>("\4");

// Whether memory holds whole elements, each where one of them may be.
template <typename E>
constexpr bool is_whole(uint64_t size) {
  return size % sizeof(E) == 0;
}
template <typename E>
constexpr bool is_aligned(uint64_t address) {
  return address % alignof(E) == 0;
}

template <typename E>
requires std::is_trivially_copyable_v<E>
struct Parameter<std::span<E>> : RefParameter<Blob, false> {
  static const char* mismatch(Cursor& at) {
    if (const Blob* blob = cast<Blob>(*at.refs)) {
      const std::span<const std::byte> bytes = blob->bytes();
      if (!std::is_const_v<E> && !blob->writable()) [[unlikely]]
        return Blob::kTypeName;
      if (!is_whole<E>(bytes.size())) [[unlikely]]
        return kPartialText<sizeof(E)>.data();
      if (!is_aligned<E>(reinterpret_cast<uintptr_t>(bytes.data()))) [[unlikely]]
        return kUnalignedText<sizeof(E)>.data();
    }
    return RefParameter<Blob, false>::mismatch(at);
  }
  static std::span<E> read(Cursor& at) {
    Blob* blob = Parameter::next(at);
    const auto bytes = [&] {
      if constexpr (std::is_const_v<E>) {
        return blob->bytes();
      } else {
        return blob->writable_bytes();
      }
    }();
    return {reinterpret_cast<E*>(bytes.data()), bytes.size() / sizeof(E)};
  }
};

// One element of a variadic segment of several.
template <typename... E>
struct Parameter<std::tuple<E...>> {
  static constexpr bool kChecked = (Parameter<E>::kChecked || ...);
  static constexpr int kValues = (Parameter<E>::kValues + ...), kRefs = (Parameter<E>::kRefs + ...);
  template <typename Out>
  static constexpr void write(Out& out) {
    (Parameter<E>::write(out), ...);
  }
  static const char* mismatch(Cursor& at) {
    const char* wanted = nullptr;
    (void)(((wanted = Parameter<E>::mismatch(at)) == nullptr) && ...);
    return wanted;
  }
  static std::tuple<E...> read(Cursor& at) { return {Parameter<E>::read(at)...}; }
};

template <typename E>
struct Parameter<Variadic<E>> {
  static constexpr bool kChecked = Parameter<E>::kChecked;
  template <typename Out>
  static constexpr void write(Out& out) {
    out('C');
    Parameter<E>::write(out);
    out('D');
  }
  static const char* mismatch(Cursor& at) {
    const uint16_t count = *at.segments++;
    for (uint16_t i = 0; i < count; ++i) {
      if (const char* wanted = Parameter<E>::mismatch(at)) return wanted;
    }
    return nullptr;
  }
  static Variadic<E> read(Cursor& at) {
    const Variadic<E> elements(at, *at.segments++);
    at.values += elements.size() * Parameter<E>::kValues;
    at.refs += elements.size() * Parameter<E>::kRefs;
    return elements;
  }
};

// References to objects stay references; anything else is passed as the value it is.
template <typename P>
struct PassedAs {
  using type = std::remove_cvref_t<P>;
};
template <typename P>
requires std::derived_from<std::remove_cvref_t<P>, baton_object>
struct PassedAs<P&> {
  using type = P&;
};

}  // namespace detail
}  // namespace baton::sdk
