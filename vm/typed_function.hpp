// TypedFunction: an export as a C++ function type. The type is compared with the export's once, when it is looked up; a
// call then places its arguments without a check and can't be given values of another type.
//
//   BATON_TRY_ASSIGN(const auto average, TypedFunction<double(double, int32_t)>::find(*context, "average"));
//   BATON_TRY_ASSIGN(const double result, average(invocation, 1.5, 3));
//
// Types: int32_t, int64_t, float, double, and Object* for any reference (borrowed as an argument; as a result
// Ref<Object>). Several results are a tuple.
// Threads: immutable; valid as long as the program.
#pragma once

#include <array>
#include <tuple>

#include "vm/invocation.hpp"

namespace baton::vm {

// Whether a function has the type `expected`, in signature text (bytecode/signature.hpp); references of any type are
// 'r'. The failure names both types.
Status check_signature(const ExportedFunction& function, std::string_view expected);

namespace detail {

template <typename T>
struct SlotOf;  // No value of a program has this type.
#define BATON_SLOT(Type, text)                                  \
  template <>                                                   \
  struct SlotOf<Type> {                                         \
    static constexpr char kLetter = text;                       \
    static Value store(Type value) { return Value::of(value); } \
    static Type load(Value value) { return value.as<Type>(); }  \
  };
BATON_SLOT(int32_t, 'i')
BATON_SLOT(int64_t, 'I')
BATON_SLOT(float, 'f')
BATON_SLOT(double, 'F')
#undef BATON_SLOT
template <>
struct SlotOf<Object*> {
  static constexpr char kLetter = 'r';
  static Value store(Object* object) { return Value::of(object); }
};
template <>
struct SlotOf<Ref<Object>> {
  static constexpr char kLetter = 'r';
  static Ref<Object> load(Value value) { return Ref<Object>::adopt(value.ref); }
};

// What a call gives, by the type that stands before the parentheses.
template <typename R>
struct ResultsOf {
  static constexpr std::array kLetters = {SlotOf<R>::kLetter};
  using type = Result<R>;
  static type load(std::span<const Value> values) { return SlotOf<R>::load(values[0]); }
};
template <>
struct ResultsOf<void> {
  static constexpr std::array<char, 0> kLetters = {};
  using type = Status;
  static type load(std::span<const Value>) { return {}; }
};
template <typename... Rs>
struct ResultsOf<std::tuple<Rs...>> {
  static constexpr std::array kLetters = {SlotOf<Rs>::kLetter...};
  using type = Result<std::tuple<Rs...>>;
  static type load(std::span<const Value> values) { return load(values, std::index_sequence_for<Rs...>()); }

 private:
  template <size_t... kIndices>
  static type load(std::span<const Value> values, std::index_sequence<kIndices...>) {
    return std::tuple<Rs...>(SlotOf<Rs>::load(values[kIndices])...);
  }
};

}  // namespace detail

template <typename Signature>
class TypedFunction;

template <typename R, typename... Arguments>
class TypedFunction<R(Arguments...)> {
 public:
  static Result<TypedFunction> find(const Context& context, std::string_view name) {
    BATON_TRY_ASSIGN(const ExportedFunction function, context.find_function(name));
    return of(function);
  }
  static Result<TypedFunction> of(const ExportedFunction& function) {
    BATON_TRY(check_signature(function, signature()));
    return TypedFunction(function);
  }

  typename detail::ResultsOf<R>::type operator()(Invocation& invocation, Arguments... arguments) const {
    const std::array<Value, sizeof...(Arguments)> slots = {detail::SlotOf<Arguments>::store(arguments)...};
    std::array<Value, detail::ResultsOf<R>::kLetters.size()> results;
    BATON_TRY(invocation.invoke_slots(function_, slots, results));
    return detail::ResultsOf<R>::load(results);
  }

  const ExportedFunction& exported() const { return function_; }

 private:
  explicit TypedFunction(const ExportedFunction& function) : function_(function) {}

  static std::string signature() {
    std::string text = {detail::SlotOf<Arguments>::kLetter...};
    if (text.empty()) text = "v";
    const auto& results = detail::ResultsOf<R>::kLetters;
    text += '_';
    text.append(results.begin(), results.end());
    if (results.empty()) text += 'v';
    return text;
  }

  ExportedFunction function_;
};

}  // namespace baton::vm
