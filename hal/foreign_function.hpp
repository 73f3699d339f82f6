// ForeignFunction: code of a library that brings its own device work: a call that takes a CUstream, a VkCommandBuffer
// or a pointer. As a command (commands/foreign.hpp) its work stands in a recording with everything else.
//
// A driver calls it with the bindings of an execution, when the recording runs or before, once or again for each table;
// what it enqueues must depend on its arguments alone. It asks the scope for the stream or graph to enqueue on.
// Threads: `record` may run on several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/ref.hpp"
#include "base/status.hpp"

namespace baton::hal {

class Device;

// What a foreign call may use while it runs, by the name of the extension. The driver that has it says what is behind
// `out` (hal/drivers/cuda/foreign_extensions.hpp).
class ForeignScope {
 public:
  // UNIMPLEMENTED, with the device's name, when the device has nothing of that name.
  virtual Status extension(std::string_view name, void* out) = 0;

 protected:
  ~ForeignScope() = default;
};

// Resolved: buffer or slot, offset and length applied.
struct ForeignBinding {
  uint64_t address;  // For the device.
  std::byte* host;   // The same for the host; null where it cannot see it.
  uint64_t length;
};

struct ForeignArguments {
  Device& device;
  ForeignScope& scope;
  std::span<const ForeignBinding> bindings;
  std::span<const uint32_t> constants;
};

class ForeignFunction : public RefCounted<ForeignFunction> {
 public:
  virtual ~ForeignFunction() = default;
  virtual Status record(const ForeignArguments& arguments) = 0;
  // "blas.saxpy": what messages name.
  const std::string& name() const { return name_; }

 protected:
  explicit ForeignFunction(std::string_view name) : name_(name) {}

 private:
  std::string name_;
};

// Wraps anything callable as `Status(const ForeignArguments&)`.
template <typename Callable>
Ref<ForeignFunction> make_foreign_function(std::string_view name, Callable callable) {
  class Function final : public ForeignFunction {
   public:
    Function(std::string_view function_name, Callable wrapped)
        : ForeignFunction(function_name), callable_(std::move(wrapped)) {}
    Status record(const ForeignArguments& arguments) override { return callable_(arguments); }

   private:
    Callable callable_;
  };
  return make_ref<Function>(name, std::move(callable));
}

}  // namespace baton::hal
