#include "hal/drivers/vulkan/instance.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/sanitizers.hpp"
#include "hal/drivers/vulkan/status.hpp"
#include "hal/drivers/vulkan/validation.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// Whether the process is at its end, where a driver's library may have taken itself apart already: an instance that a
// static variable of the host keeps is then left to the system. NVIDIA's 580 crashes when it is destroyed there.
std::atomic<bool> process_ends{false};

// Called once the drivers are loaded: what is registered last runs first, so before the libraries go.
void notice_the_end() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit([] { process_ends = true; }); });
}

// LeakSanitizer calls leaked what only a library knows that is gone, and the loader closes drivers with the last instance. Mesa's
// keep what they found out about the processor, on AMD's ones a block of memory: where leaks are looked for, drivers stay.
#if BATON_ADDRESS_SANITIZER
void keep_drivers() {
  std::vector<std::string> drivers;
  const auto look = [](dl_phdr_info* library, size_t, void* found) {
    if (std::strstr(library->dlpi_name, "libvulkan_")) {
      static_cast<std::vector<std::string>*>(found)->emplace_back(library->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(look, &drivers);
  for (const std::string& driver : drivers) dlopen(driver.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
#else
void keep_drivers() {}
#endif

class PrintingListener final : public ValidationListener {
 public:
  void say(std::string_view message) override {
    std::fprintf(stderr, "[vulkan] %.*s\n", static_cast<int>(message.size()), message.data());
  }
};

VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                    const VkDebugUtilsMessengerCallbackDataEXT* data, void* listener) {
  if (!HeardHere::take(data->pMessage)) static_cast<ValidationListener*>(listener)->say(data->pMessage);
  return VK_FALSE;
}
VKAPI_ATTR VkBool32 VKAPI_CALL hear_and_end(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void* listener) {
  if (HeardHere::take(data->pMessage)) return VK_FALSE;
  static_cast<ValidationListener*>(listener)->say(data->pMessage);
  std::abort();
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(ValidationListener* listener, Validation validation) {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = validation == Validation::kFatal ? hear_and_end : hear;
  info.pUserData = listener;
  return info;
}

Status check_layer(const LoaderSymbols& loader) {
  uint32_t count = 0;
  BATON_VULKAN_TRY(loader, vkEnumerateInstanceLayerProperties, &count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  BATON_VULKAN_TRY(loader, vkEnumerateInstanceLayerProperties, &count, layers.data());
  for (const VkLayerProperties& layer : layers) {
    if (std::strcmp(layer.layerName, kValidationLayer) == 0) return {};
  }
  return failure(StatusCode::kUnavailable, "vulkan_validation=1 needs the layer ", kValidationLayer,
                 ", which is not installed.");
}

Status check_version(const LoaderSymbols& loader) {
  uint32_t version = 0;
  BATON_VULKAN_TRY(loader, vkEnumerateInstanceVersion, &version);
  if (version >= VK_API_VERSION_1_2) return {};
  return failure(StatusCode::kUnavailable, "The Vulkan loader (", VK_API_VERSION_MAJOR(version), ".",
                 VK_API_VERSION_MINOR(version), ") is too old; Baton needs Vulkan 1.2.");
}

// Loaders say of a manifest that they cannot parse that memory is out: 1.3.239 does.
Status instance_failure(VkResult result) {
  const Status status = vulkan_failure(result, "vkCreateInstance");
  if (result != VK_ERROR_INCOMPATIBLE_DRIVER && result != VK_ERROR_OUT_OF_HOST_MEMORY) return status.clone();
  return failure(StatusCode::kUnavailable, status.message(),
                 " There may be no driver's manifest (*_icd.json) that the ",
                 "loader can use; VK_LOADER_DEBUG=all shows what it finds.");
}

}  // namespace

Result<Ref<Instance>> Instance::make(Validation validation, std::shared_ptr<ValidationListener> listener) {
  BATON_TRY_ASSIGN(const LoaderSymbols loader, load_loader());
  BATON_TRY(check_version(loader));
  if (validation != Validation::kOff) BATON_TRY(check_layer(loader));
  if (!listener) listener = std::make_shared<PrintingListener>();
  auto instance = make_ref<Instance>(std::move(listener));
  BATON_TRY(instance->create(loader, validation));
  return instance;
}

Status Instance::create(const LoaderSymbols& loader, Validation validation) {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "Baton";
  application.apiVersion = VK_API_VERSION_1_3;
  const auto messenger = messenger_info(listener_.get(), validation);
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validation != Validation::kOff) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  if (const VkResult made = loader.vkCreateInstance(&info, nullptr, &handle_); made != VK_SUCCESS) {
    return instance_failure(made);
  }
  notice_the_end();
  keep_drivers();
  BATON_TRY_ASSIGN(symbols_, load_instance_symbols(loader, handle_));
  if (validation == Validation::kOff) return {};
  const auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      loader.vkGetInstanceProcAddr(handle_, "vkCreateDebugUtilsMessengerEXT"));
  destroy_messenger_ = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      loader.vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
  if (!create_messenger || !destroy_messenger_) {
    return failure(StatusCode::kUnavailable, "The validation layer has no messages (", extension, ").");
  }
  if (const VkResult made = create_messenger(handle_, &messenger, nullptr, &messenger_); made != VK_SUCCESS) {
    return vulkan_failure(made, "vkCreateDebugUtilsMessengerEXT");
  }
  return {};
}

Instance::~Instance() {
  if (process_ends) return;
  if (messenger_) destroy_messenger_(handle_, messenger_, nullptr);
  if (handle_ && symbols_.vkDestroyInstance) symbols_.vkDestroyInstance(handle_, nullptr);
}

Result<std::vector<VkPhysicalDevice>> Instance::physical_devices() const {
  uint32_t count = 0;
  BATON_VULKAN_TRY(symbols_, vkEnumeratePhysicalDevices, handle_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  if (count != 0) BATON_VULKAN_TRY(symbols_, vkEnumeratePhysicalDevices, handle_, &count, devices.data());
  devices.resize(count);
  return devices;
}

}  // namespace baton::hal::drivers::vulkan
