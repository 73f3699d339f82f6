// Instance: the VkInstance behind one or several devices, with or without the validation layer.
//
// Threads: immutable.
#pragma once

#include <memory>
#include <vector>

#include "base/ref.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/symbols.hpp"

namespace baton::hal::drivers::vulkan {

// Messages of Khronos' validation layer go to the listener, else to standard error; kFatal then ends the process.
enum class Validation : uint8_t { kOff, kOn, kFatal };

class Instance final : public RefCounted<Instance> {
 public:
  // UNAVAILABLE, with the reason, where there is no loader, no driver, or no validation layer that is asked for.
  static Result<Ref<Instance>> make(Validation validation, std::shared_ptr<ValidationListener> listener);
  ~Instance();

  const InstanceSymbols& symbols() const { return symbols_; }
  Result<std::vector<VkPhysicalDevice>> physical_devices() const;
  // Passes the message to the listener of the validation layer.
  void say(std::string_view message) const { listener_->say(message); }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  explicit Instance(std::shared_ptr<ValidationListener> listener) : listener_(std::move(listener)) {}

  Status create(const LoaderSymbols& loader, Validation validation);

  std::shared_ptr<ValidationListener> listener_;  // The layer's messenger calls it until the instance is gone.
  VkInstance handle_ = VK_NULL_HANDLE;
  InstanceSymbols symbols_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger_ = nullptr;
};

}  // namespace baton::hal::drivers::vulkan
