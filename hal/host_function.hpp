// HostFunction: code of the host that runs in order with device work, as a command or as a queue operation.
//
// It is called once for each execution, from whatever thread runs the queue, with the bindings of that execution. Where
// the queue has workers, that is a worker: never a thread that waits, nor the one that submits.
// Threads: `call` may run on several threads at once when its recording is executed several times at once.
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

struct HostCallArguments {
  Device& device;
  std::span<const std::span<std::byte>> bindings;  // Resolved: buffer or slot, offset and length applied.
  std::span<const uint32_t> constants;
};

class HostFunction : public RefCounted<HostFunction> {
 public:
  virtual ~HostFunction() = default;
  virtual Status call(const HostCallArguments& arguments) = 0;
  const std::string& name() const { return name_; }

 protected:
  explicit HostFunction(std::string_view name) : name_(name) {}

 private:
  std::string name_;
};

// Wraps anything callable as `Status(const HostCallArguments&)`.
template <typename Callable>
Ref<HostFunction> make_host_function(std::string_view name, Callable callable) {
  class Function final : public HostFunction {
   public:
    Function(std::string_view name, Callable callable) : HostFunction(name), callable_(std::move(callable)) {}
    Status call(const HostCallArguments& arguments) override { return callable_(arguments); }

   private:
    Callable callable_;
  };
  return make_ref<Function>(name, std::move(callable));
}

}  // namespace baton::hal
