// Function: an export of a program as a callable of C++. What the program declares is compared with the type once, when
// it is looked up; a call places its arguments, runs, waits where the program works behind fences, and gives the results.
//
//   BATON_TRY_ASSIGN(auto step, find<std::tuple<Tensor, float>(Tensor, int32_t)>(context, "step"));
//   BATON_TRY_ASSIGN((auto [y, loss]), step(x, 3));
//
// Types: int32_t, int64_t, float, double; Tensor for any tensor, TensorOf<float> for one of f32; sdk::Ref<baton_object> for
// any other reference. Several results are a tuple, none is void.
// Threads: a Function runs one call at a time; each thread finds its own, and so does what a call calls back.
#pragma once

#include <array>
#include <memory>
#include <tuple>

#include "modules/app/declaration.hpp"
#include "modules/app/tensor.hpp"
#include "modules/hal_module/objects.hpp"
#include "vm/invocation.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::app {
namespace detail {

// What a check sees of a C++ type.
struct ExpectedType {
  char letter;  // As signatures have it; 'r' for references.
  bool tensor = false;
  hal::ElementType element = hal::ElementType::kNone;  // kNone: any.
};

template <typename T>
struct Slot;  // No value of a program has this type.
template <typename T>
requires std::is_arithmetic_v<T>
struct Slot<T> {
  static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                    std::is_same_v<T, double>,
                "a program's numbers are int32_t, int64_t, float and double");
  static constexpr ExpectedType kType{std::is_same_v<T, int32_t>   ? 'i'
                                      : std::is_same_v<T, int64_t> ? 'I'
                                      : std::is_same_v<T, float>   ? 'f'
                                                                   : 'F'};
  struct Held {
    explicit Held(T given) : value(vm::Value::of(given)) {}
    vm::Value value;
  };
  static Result<T> load(vm::Value value, const Ref<hal::Device>&) { return value.as<T>(); }
};

template <>
struct Slot<Tensor> {
  static constexpr ExpectedType kType{'r', true};
  struct Held {
    explicit Held(const Tensor& given)
        : object(modules::wrap(given.view())), value(vm::Value::of(reinterpret_cast<vm::Object*>(object.get()))) {}
    sdk::Ref<modules::Handle<hal::BufferView>> object;
    vm::Value value;
  };
  static Result<Tensor> load(vm::Value value, const Ref<hal::Device>& device);
};
template <typename T>
struct Slot<TensorOf<T>> : Slot<Tensor> {
  static constexpr ExpectedType kType{'r', true, ElementOf<T>::kType};
  static Result<TensorOf<T>> load(vm::Value value, const Ref<hal::Device>& device) {
    BATON_TRY_ASSIGN(Tensor tensor, Slot<Tensor>::load(value, device));
    return TensorOf<T>::take(std::move(tensor));
  }
};
template <>
struct Slot<sdk::Ref<baton_object>> {
  static constexpr ExpectedType kType{'r'};
  struct Held {
    explicit Held(const sdk::Ref<baton_object>& given)
        : value(vm::Value::of(reinterpret_cast<vm::Object*>(given.get()))) {}
    vm::Value value;
  };
  static Result<sdk::Ref<baton_object>> load(vm::Value value, const Ref<hal::Device>&) {
    return sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(value.ref));
  }
};

template <typename R>
struct Results {
  static constexpr std::array kTypes = {Slot<R>::kType};
  using type = Result<R>;
  static type load(std::span<const vm::Value> values, const Ref<hal::Device>& device) {
    return Slot<R>::load(values[0], device);
  }
};
template <>
struct Results<void> {
  static constexpr std::array<ExpectedType, 0> kTypes = {};
  using type = Status;
  static type load(std::span<const vm::Value>, const Ref<hal::Device>&) { return {}; }
};
template <typename... Rs>
struct Results<std::tuple<Rs...>> {
  static constexpr std::array<ExpectedType, sizeof...(Rs)> kTypes = {Slot<Rs>::kType...};
  using type = Result<std::tuple<Rs...>>;
  static type load(std::span<const vm::Value> values, const Ref<hal::Device>& device) {
    return load(values, device, std::index_sequence_for<Rs...>());
  }

 private:
  // All are loaded, so that all are owned, before the first failure is told.
  template <size_t... kIndices>
  static type load(std::span<const vm::Value> values, const Ref<hal::Device>& device,
                   std::index_sequence<kIndices...>) {
    std::tuple<Result<Rs>...> loaded{Slot<Rs>::load(values[kIndices], device)...};
    Status failed;
    ((void)(failed.ok() && !std::get<kIndices>(loaded) ? (failed = std::move(std::get<kIndices>(loaded).error()), 0)
                                                       : 0),
     ...);
    if (!failed.ok()) return failed;
    return std::tuple<Rs...>(*std::move(std::get<kIndices>(loaded))...);
  }
};

}  // namespace detail

// What a Function is without its type: lookup, checks, one call.
class FunctionBase {
 public:
  const std::string& declaration() const { return declaration_.text; }
  vm::Invocation& invocation() { return *invocation_; }
  // Tells of its calls; null for no more.
  void trace(Timeline* timeline);

 protected:
  using Types = std::span<const detail::ExpectedType>;
  static Result<FunctionBase> look_up(const Ref<vm::Context>& context, std::string_view name, Ref<hal::Device> device,
                                      Types arguments, Types results);
  // `arguments` has room for two fences behind those of the app.
  Status call(std::span<vm::Value> arguments, std::span<vm::Value> results);
  // Compares the tensor with what the program declares.
  Status take_tensor(size_t index, const Tensor& tensor);
  const Ref<hal::Device>& device() const { return device_; }
  size_t fences() const { return declaration_.takes_fences ? 2 : 0; }

 private:
  Status check_tensor(size_t index, const Tensor& tensor) const;
  Status invoke(std::span<const vm::Value> arguments, std::span<vm::Value> results);
  Status check_types(Types arguments, Types results) const;

  vm::ExportedFunction function_;
  Declaration declaration_;
  Ref<hal::Device> device_;  // Where tensors of results live; null while there is none.
  Ref<hal::Fence> ready_;    // Of the next call's arguments; null: they are there.
  std::unique_ptr<vm::TimelineTracer> tracer_;
  std::unique_ptr<vm::Invocation> invocation_;
};

// A function of tensors alone, whose number is known when the program runs.
class TensorFunction : public FunctionBase {
 public:
  static Result<TensorFunction> find(const Ref<vm::Context>& context, std::string_view name, Ref<hal::Device> device,
                                     size_t argument_count, size_t result_count);
  Result<std::vector<Tensor>> call(std::span<const Tensor> arguments, size_t result_count);

 private:
  explicit TensorFunction(FunctionBase&& found) : FunctionBase(std::move(found)) {}
};

template <typename Signature>
class Function;

template <typename R, typename... Arguments>
class Function<R(Arguments...)> : public FunctionBase {
 public:
  // `device`: where results live and fences come from; null for programs without devices.
  static Result<Function> find(const Ref<vm::Context>& context, std::string_view name,
                               Ref<hal::Device> device = nullptr) {
    static constexpr std::array<detail::ExpectedType, sizeof...(Arguments)> kArguments = {
        detail::Slot<Arguments>::kType...};
    BATON_TRY_ASSIGN(FunctionBase found,
                     look_up(context, name, std::move(device), kArguments, detail::Results<R>::kTypes));
    return Function(std::move(found));
  }

  typename detail::Results<R>::type operator()(const Arguments&... arguments) {
    size_t index = 0;
    Status fits;
    ((void)(fits.ok() ? (fits = take_argument(index++, arguments), 0) : 0), ...);
    BATON_TRY(std::move(fits));
    const std::tuple<typename detail::Slot<Arguments>::Held...> held(arguments...);
    std::array<vm::Value, sizeof...(Arguments) + 2> slots = std::apply(
        [](const auto&... one) { return std::array<vm::Value, sizeof...(Arguments) + 2>{one.value...}; }, held);
    std::array<vm::Value, detail::Results<R>::kTypes.size()> results;
    BATON_TRY(call(std::span(slots).first(sizeof...(Arguments) + fences()), results));
    return detail::Results<R>::load(results, device());
  }

 private:
  explicit Function(FunctionBase&& found) : FunctionBase(std::move(found)) {}

  template <typename T>
  Status take_argument(size_t index, const T& argument) {
    if constexpr (std::is_base_of_v<Tensor, T>) return take_tensor(index, argument);
    return {};
  }
};

template <typename Signature>
Result<Function<Signature>> find(const Ref<vm::Context>& context, std::string_view name,
                                 Ref<hal::Device> device = nullptr) {
  return Function<Signature>::find(context, name, std::move(device));
}

}  // namespace baton::app
