#include "hal/drivers/vulkan/context.hpp"

namespace baton::hal::drivers::vulkan {

Result<Ref<Context>> Context::open(Ref<Instance> instance, const DeviceFacts& facts, const std::string& cache_folder) {
  if (!facts.obstacle.empty()) {
    return failure(StatusCode::kUnavailable, "Baton cannot use the Vulkan device '", facts.name, "': ", facts.obstacle,
                   ".");
  }
  auto context = make_ref<Context>(std::move(instance), facts);
  BATON_TRY(context->create());
  if (!cache_folder.empty()) {
    context->cache_ = std::make_unique<PipelineCache>(context->symbols_, context->handle_);
    if (const Status opened = context->cache_->open(cache_folder, facts); !opened.ok()) {
      context->instance_->say(opened.message());
    }
  }
  return context;
}

Status Context::create() {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = facts_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  FeatureChain features = facts_.features;
  features.link(facts_.known_features);
  const std::vector<const char*> extensions = facts_.extensions();
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  BATON_VULKAN_TRY(instance_->symbols(), vkCreateDevice, facts_.handle, &info, nullptr, &handle_);
  BATON_TRY_ASSIGN(symbols_, load_device_symbols(instance_->symbols(), handle_));
  symbols_.vkGetDeviceQueue(handle_, facts_.queue_family, 0, &queue_);
  return {};
}

Context::~Context() {
  if (cache_ && !lost()) {
    if (const Status saved = cache_->save(); !saved.ok()) instance_->say(saved.message());
  }
  cache_ = nullptr;
  if (handle_ && symbols_.vkDestroyDevice) symbols_.vkDestroyDevice(handle_, nullptr);
}

Status Context::status_of(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return {};
  if (result == VK_ERROR_DEVICE_LOST) lose();
  return vulkan_failure(result, call);
}

Status Context::check() const {
  if (!lost()) [[likely]]
    return {};
  return failure(StatusCode::kDataLoss, "The Vulkan device '", facts_.name, "' is lost; nothing runs on it any more.");
}

}  // namespace baton::hal::drivers::vulkan
