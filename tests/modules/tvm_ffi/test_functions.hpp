// The functions of functions.cpp on a device, called and recorded as the test says that they are to be taken.
#pragma once

#include "hal/allocator.hpp"
#include "hal/host_copy.hpp"
#include "hal/queue.hpp"
#include "modules/plugin_loader.hpp"
#include "modules/sdk/recording.h"
#include "modules/tvm_ffi/values.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules::tvm_ffi {

using vm::Value;

// The loader of plugins refers to it weakly.
[[gnu::used]] inline const OtherLibraries& (*const kOtherLibraries)() = other_libraries;

inline constexpr const char* kLibrary = BATON_TEST_FUNCTIONS;

inline Result<Ref<const vm::Module>> load(std::vector<modules::Parameter> parameters,
                                          const std::string& path = kLibrary) {
  parameters.push_back({"runtime", BATON_TEST_TVM_FFI});
  return load_plugin({.path = path, .entry = BATON_MODULE_QUERY_SYMBOL, .parameters = std::move(parameters)});
}

// The library alone, each function with what the test says of it.
class Functions {
 public:
  explicit Functions(std::vector<modules::Parameter> parameters, Ref<hal::Device> on = open_device("local-sync"))
      : device(std::move(on)) {
    auto module = load(std::move(parameters));
    EXPECT_OK(module);
    if (!module) return;
    const Ref<const vm::Module> all[] = {hal_module_on({device}), *module};
    auto program = vm::Program::link(all);
    EXPECT_OK(program);
    auto made = vm::Context::make(*program);
    EXPECT_OK(made);
    context = *made;
  }

  Result<std::vector<Value>> call(std::string_view name, std::vector<Value> arguments) {
    BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function(name));
    std::vector<Value> results(size_t{function.shape.result_values} + function.shape.result_refs);
    vm::Invocation invocation(context);
    BATON_TRY(invocation.invoke_slots(function, arguments, results));
    return results;
  }

  Ref<hal::Device> device;
  Ref<vm::Context> context;
};

inline Value ref_of(baton_object* object) { return Value::of(reinterpret_cast<vm::Object*>(object)); }

template <typename T>
struct Tensor {
  Tensor(hal::Device& device, hal::ElementType type, std::vector<int64_t> shape, std::vector<T> elements)
      : view(*hal::upload_view(device, type, shape, std::as_bytes(std::span(elements)))), handle(wrap(view)) {}
  Value value() { return ref_of(handle.get()); }
  std::vector<T> read(hal::Device& device) const { return read_view<T>(device, *view); }

  template <typename E>
  static std::vector<E> read_view(hal::Device& device, const hal::BufferView& of) {
    std::vector<E> elements(static_cast<size_t>(of.element_count()));
    EXPECT_OK(hal::copy_to_host(device, of.buffer(), std::as_writable_bytes(std::span(elements))));
    return elements;
  }

  Ref<hal::BufferView> view;
  sdk::Ref<Handle<hal::BufferView>> handle;
};
using Floats = Tensor<float>;

// A result that is dropped at the end.
struct OwnedResult {
  explicit OwnedResult(Value value) : object(reinterpret_cast<baton_object*>(value.ref)) {}
  ~OwnedResult() { baton_object_release(object); }
  baton_object* object;
};

class Commands : public Functions {
 public:
  using Functions::Functions;

  struct Slot {
    uint32_t index;
    hal::ElementType type = hal::ElementType::kF32;
    uint32_t rank = 1;
    int64_t offset = 0, length = -1;
  };

  // Records one command on slots, with numbers behind them.
  Result<Ref<hal::Recording>> record(std::string_view name, std::vector<Slot> slots, std::vector<Value> numbers = {}) {
    BATON_TRY_ASSIGN(auto commands, device->make_command_buffer({.name = "test", .slot_count = 4}));
    const auto handle = sdk::make<Handle<hal::CommandBuffer>>(std::move(commands), *device);
    std::vector<Value> arguments = {ref_of(handle.get())};
    for (const Slot& slot : slots) {
      const uint64_t bits = slot.index | uint64_t{static_cast<uint32_t>(slot.type)} << 34 | uint64_t{slot.rank} << 50;
      arguments.insert(arguments.end(), {Value::of(static_cast<int64_t>(bits)), ref_of(nullptr), Value::of(slot.offset),
                                         Value::of(slot.length)});
    }
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    BATON_TRY_ASSIGN(const auto none, call(name, arguments));
    static_cast<void>(none);
    return (**handle).finish();
  }

  Status execute(hal::Recording& recording, std::initializer_list<const Floats*> tensors) {
    std::vector<hal::BufferRange> ranges;
    for (const Floats* tensor : tensors) ranges.emplace_back(*tensor->view->buffer());
    BATON_TRY(device->queue().execute({}, recording, {.buffers = ranges}));
    return device->queue().wait_idle();
  }
};

}  // namespace baton::modules::tvm_ffi
