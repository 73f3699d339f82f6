// From a C++ function to an export: its signature text and the shim that a program calls, both made by the compiler
// from the function's type.
//
//   parameter                              text       when it does not fit
//   bool int32_t ... double (value.hpp)    i I f F
//   T&, const T&                           r<name>    null or another type: INVALID_ARGUMENT
//   T*, const T*, Ref<T>                   r<name>    another type: INVALID_ARGUMENT; may be null
//   baton_object*                          r          may be anything
//   std::string_view, std::span<E>         r<blob>    null, another type, read-only where E is not const, or bytes that
//                                                     are no whole and aligned elements
//   Variadic<E>, Variadic<std::tuple<...>> C...D      as its elements
//
// Results are void, a number, Ref<T>, a std::tuple of those, Status, Result<any of those>, and Pending<T>
// (pending.hpp). T is an Object, a Blob or a List. References passed as T& or T* are borrowed for the call.
//
// Registers are read in place. A cursor walks both banks in the order of the parameters; the compiler sees through it,
// so a shim for (int32_t, int32_t) -> int32_t is two loads, a call and a store (tests/modules/shim_code.cmake counts).
#pragma once

#include <array>
#include <tuple>

#include "modules/sdk/parameter.hpp"

namespace baton::sdk {

namespace detail {

// ---- Results

// How a result of type R is spelled and stored: write(out), and store(call, result), which fails only when the result
// is a failure. A result of one register also has put(at, result).
template <typename R>
struct Returned;

template <typename R>
concept Register = requires(Cursor& at, R result) {
  Returned<R>::put(at, result);
};

template <Number T>
struct Returned<T> {
  template <typename Out>
  static constexpr void write(Out& out) {
    out(kLetter<T>);
  }
  static void put(Cursor& at, T result) { *at.values++ = slot_of(result); }
};

template <typename T>
struct Returned<Ref<T>> {
  template <typename Out>
  static constexpr void write(Out& out) {
    write_ref(out, T::kTypeName);
  }
  static void put(Cursor& at, Ref<T>& result) {
    baton_object* previous = *at.refs;
    *at.refs++ = result.detach();
    baton_object_release(previous);
  }
};

template <typename R>
baton_status* store(baton_call* call, R& result) {
  if constexpr (Register<R>) {
    Cursor at = {call->values, call->refs, nullptr};
    Returned<R>::put(at, result);
    return nullptr;
  } else {
    return Returned<R>::store(call, result);
  }
}

template <>
struct Returned<void> {
  template <typename Out>
  static constexpr void write(Out&) {}
};

template <>
struct Returned<Status> : Returned<void> {
  static baton_status* store(baton_call*, Status& result) { return result.release(); }
};

template <typename... R>
struct Returned<std::tuple<R...>> {
  template <typename Out>
  static constexpr void write(Out& out) {
    (Returned<R>::write(out), ...);
  }
  static baton_status* store(baton_call* call, std::tuple<R...>& results) {
    Cursor at = {call->values, call->refs, nullptr};
    std::apply([&](auto&... result) { (Returned<R>::put(at, result), ...); }, results);
    return nullptr;
  }
};

template <typename R>
struct Returned<Result<R>> : Returned<R> {
  static baton_status* store(baton_call* call, Result<R>& result) {
    if (!result.has_value()) [[unlikely]]
      return result.error().release();
    return detail::store(call, *result);
  }
};

// A result that may come later (pending.hpp) has resume(call) besides.
template <typename R>
concept Resumable = requires(baton_call* call) {
  Returned<R>::resume(call);
};

// ---- The shim

// Cold: a sentence with both type names.
[[gnu::cold, gnu::noinline]] inline baton_status* refuse(const baton_call* call, int index, const Cursor& at,
                                                         const char* wanted) {
  const bool is_range = wanted[0] == '\1';  // recording.hpp: wrong are its numbers, not its object
  const baton_object* given = *at.refs;
  const auto* name = static_cast<const FunctionName*>(call->data);
  if (wanted[0] == '\2') {  // recording.hpp: its elements are of another type
    return failure(StatusCode::kInvalidArgument, "Function '", name->module, ".", name->function,
                   "' takes as argument ", index, " a tensor of ", wanted + 1, ".")
        .release();
  }
  if (wanted[0] == '\3' || wanted[0] == '\4') {  // parameter.hpp: the bytes of a blob are no such elements
    const size_t size = static_cast<const Blob*>(given)->bytes().size();
    return failure(StatusCode::kInvalidArgument, "Function '", name->module, ".", name->function, "' takes ",
                   wanted + 1, " as argument ", index, ", not a blob of ", size, " bytes",
                   wanted[0] == '\3' ? "." : " that are not aligned for them.")
        .release();
  }
  const auto start = [&] {
    return std::string("Function '") + name->module + "." + name->function + "' takes a " + (is_range ? "" : "'") +
           (is_range ? wanted + 1 : wanted) + (is_range ? "" : "'") + " as argument " + std::to_string(index);
  };
  if (is_range) {
    return failure(StatusCode::kInvalidArgument, start(), ", not slot ", at.values[0].i64, ", offset ",
                   at.values[1].i64, ", length ", at.values[2].i64, given ? " of a buffer." : ".")
        .release();
  }
  if (!given) return failure(StatusCode::kInvalidArgument, start(), ", not null.").release();
  if (given->type == host().blob_type && std::string_view(wanted) == "blob") {
    return failure(StatusCode::kInvalidArgument, start(), " to write to, and this one is read-only.").release();
  }
  if (std::string_view(wanted) == given->type->name) {
    return failure(StatusCode::kInvalidArgument, start(), ", not one that another module made.").release();
  }
  return failure(StatusCode::kInvalidArgument, start(), ", not a '", given->type->name, "'.").release();
}

[[gnu::cold, gnu::noinline]] inline baton_status* thrown_from(const baton_call* call, std::string_view what) {
  const auto* name = static_cast<const FunctionName*>(call->data);
  return failure(StatusCode::kInternal, "Function '", name->module, ".", name->function, "' threw: ", what).release();
}

template <typename... P>
baton_status* check_arguments(const baton_call* call) {
  if constexpr ((Parameter<P>::kChecked || ...)) {
    Cursor at = {call->values, call->refs, call->segments};
    int index = 0;
    const char* wanted = nullptr;
    (void)(((wanted = Parameter<P>::mismatch(at)) == nullptr && (++index, true)) && ...);
    if (wanted) [[unlikely]]
      return refuse(call, index, at, wanted);
  }
  return nullptr;
}

// What a function looks like from outside: its parameters, result, and the class whose method it is (void if none).
template <typename State_, typename R, typename... P>
struct Shape {
  using State = State_;
  using Result = R;

  template <auto kFunction>
  static baton_status* run(baton_call* call) {
    Cursor at = {call->values, call->refs, call->segments};
    std::tuple<typename PassedAs<P>::type...> arguments{Parameter<typename PassedAs<P>::type>::read(at)...};
    static_cast<void>(at);
    const auto apply = [&](auto&&... argument) -> R {
      if constexpr (std::is_void_v<State>) {
        return kFunction(std::forward<decltype(argument)>(argument)...);
      } else {
        return (static_cast<State*>(call->state)->*kFunction)(std::forward<decltype(argument)>(argument)...);
      }
    };
    if constexpr (std::is_void_v<R>) {
      std::apply(apply, std::move(arguments));
      return nullptr;
    } else {
      R result = std::apply(apply, std::move(arguments));
      return store(call, result);
    }
  }
  static baton_status* check(const baton_call* call) { return check_arguments<typename PassedAs<P>::type...>(call); }

  template <typename Out>
  static constexpr void write(Out& out) {
    const auto side = [&out](auto write_types) {
      size_t before = out.size;
      write_types();
      if (out.size == before) out('v');
    };
    side([&] { (Parameter<typename PassedAs<P>::type>::write(out), ...); });
    out('_');
    side([&] { Returned<R>::write(out); });
  }
};

template <typename F>
struct ShapeOf : ShapeOf<decltype(&F::operator())> {
  using type = typename ShapeOf<decltype(&F::operator())>::lambda;
};
template <typename R, typename... P>
struct ShapeOf<R (*)(P...)> {
  using type = Shape<void, R, P...>;
};
template <typename R, typename... P>
struct ShapeOf<R (*)(P...) noexcept> : ShapeOf<R (*)(P...)> {};
template <typename C, typename R, typename... P>
struct ShapeOf<R (C::*)(P...)> {
  using type = Shape<C, R, P...>;
  using lambda = Shape<void, R, P...>;
};
template <typename C, typename R, typename... P>
struct ShapeOf<R (C::*)(P...) const> : ShapeOf<R (C::*)(P...)> {};
template <typename C, typename R, typename... P>
struct ShapeOf<R (C::*)(P...) noexcept> : ShapeOf<R (C::*)(P...)> {};
template <typename C, typename R, typename... P>
struct ShapeOf<R (C::*)(P...) const noexcept> : ShapeOf<R (C::*)(P...)> {};

template <auto kFunction>
baton_status* enter(baton_call* call) {
  using Shape = typename ShapeOf<decltype(kFunction)>::type;
  if constexpr (Resumable<typename Shape::Result>) {
    if (call->resumed) return Returned<typename Shape::Result>::resume(call);
  }
  if (baton_status* refused = Shape::check(call)) [[unlikely]]
    return refused;
  return Shape::template run<kFunction>(call);
}

// What a program calls. Nothing thrown leaves it.
template <auto kFunction>
baton_status* shim(baton_call* call) noexcept {
#if defined(__cpp_exceptions)
  try {
    return enter<kFunction>(call);
  } catch (...) {
    return thrown_from(call, thrown_text());
  }
#else
  return enter<kFunction>(call);
#endif
}

struct TextSize {
  size_t size = 0;
  constexpr void operator()(char) { ++size; }
};
template <size_t kSize>
struct TextBuffer {
  char text[kSize + 1] = {};  // terminated
  size_t size = 0;
  constexpr void operator()(char c) { text[size++] = c; }
};

template <typename Shape>
consteval size_t signature_size() {
  TextSize out;
  Shape::write(out);
  return out.size;
}
template <typename Shape>
consteval auto signature_text() {
  TextBuffer<signature_size<Shape>()> out;
  Shape::write(out);
  return out;
}
template <typename Shape>
inline constexpr auto kSignature = signature_text<Shape>();

}  // namespace detail

// The elements of a variadic segment, read from the registers where they are. Valid during the call.
template <typename E>
class Variadic {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  E operator[](size_t index) const {
    detail::Cursor at = {values_ + index * detail::Parameter<E>::kValues, refs_ + index * detail::Parameter<E>::kRefs,
                         nullptr};
    return detail::Parameter<E>::read(at);
  }

  class Iterator {
   public:
    Iterator(const detail::Cursor& at, size_t left) : at_(at), left_(left) {}
    E operator*() const {
      detail::Cursor at = at_;
      return detail::Parameter<E>::read(at);
    }
    Iterator& operator++() {
      at_.values += detail::Parameter<E>::kValues;
      at_.refs += detail::Parameter<E>::kRefs;
      return --left_, *this;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    detail::Cursor at_;
    size_t left_;
  };
  Iterator begin() const { return {{values_, refs_, nullptr}, size_}; }
  Iterator end() const { return {{}, 0}; }

 private:
  friend struct detail::Parameter<Variadic>;
  Variadic(const detail::Cursor& first, size_t size) : values_(first.values), refs_(first.refs), size_(size) {}

  baton_value* values_;
  baton_object** refs_;
  size_t size_;
};

// One thing that a module exports; BATON_FUNCTION and BATON_TYPE make them.
struct Export {
  const char* name = nullptr;
  const char* signature = nullptr;
  baton_body body = nullptr;
  uint64_t traits = 0;
  const baton_object_type* type = nullptr;  // instead of a function
};

// A function pointer, a pointer to a method of the module's class, or a captureless lambda. None of them sees the slots
// of its call, so all leave their arguments there.
template <auto kFunction>
constexpr Export function(const char* name, uint64_t traits = 0) {
  using Shape = typename detail::ShapeOf<decltype(kFunction)>::type;
  return {name, detail::kSignature<Shape>.text, detail::shim<kFunction>, traits | BATON_TRAIT_LEAVES_ARGUMENTS,
          nullptr};
}

}  // namespace baton::sdk
