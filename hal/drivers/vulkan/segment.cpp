#include "hal/drivers/vulkan/segment.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "hal/drivers/vulkan/barriers.hpp"
#include "hal/drivers/vulkan/foreign_extensions.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

thread_local Segment* recorded = nullptr;

constexpr const char* kOwned = "the recording begins and ends its command buffers itself";
constexpr const char* kQueued = "work is submitted and waited for by the queue of the device";

// ---- Entries that the guard stands behind ---------------------------------------------------------------------------

// Their callers may keep them and call them at any time, for command buffers of their own and for another device's: the
// loader's entries, which work for all, do the work.
#define GUARDED(X)        \
  X(vkGetDeviceProcAddr)  \
  X(vkBeginCommandBuffer) \
  X(vkEndCommandBuffer)   \
  X(vkResetCommandBuffer) \
  X(vkFreeCommandBuffers) \
  X(vkQueueSubmit)        \
  X(vkQueueSubmit2)       \
  X(vkQueueBindSparse)    \
  X(vkQueueWaitIdle)      \
  X(vkDeviceWaitIdle)     \
  X(vkCmdBeginQuery)      \
  X(vkCmdEndQuery)

struct LoaderEntries {
#define ENTRY(name) PFN_##name name = nullptr;
  GUARDED(ENTRY)
#undef ENTRY
};

const LoaderEntries& loader() {
  static const LoaderEntries entries = [] {
    LoaderEntries found;
#define ENTRY(name) found.name = reinterpret_cast<PFN_##name>(find_in_loader(#name));
    GUARDED(ENTRY)
#undef ENTRY
    return found;
  }();
  return entries;
}

bool refused(std::span<const VkCommandBuffer> taken, const char* call) {
  Segment* const segment = Segment::recorded_here();
  return segment && segment->refuses(taken, call);
}
bool refused_here(const char* call) {
  Segment* const segment = Segment::recorded_here();
  if (segment) segment->refuse(call, kQueued);
  return segment != nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL begin_commands(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  if (refused({&commands, 1}, "vkBeginCommandBuffer")) return VK_ERROR_UNKNOWN;
  return loader().vkBeginCommandBuffer(commands, info);
}
VKAPI_ATTR VkResult VKAPI_CALL end_commands(VkCommandBuffer commands) {
  if (refused({&commands, 1}, "vkEndCommandBuffer")) return VK_ERROR_UNKNOWN;
  return loader().vkEndCommandBuffer(commands);
}
VKAPI_ATTR VkResult VKAPI_CALL reset_commands(VkCommandBuffer commands, VkCommandBufferResetFlags flags) {
  if (refused({&commands, 1}, "vkResetCommandBuffer")) return VK_ERROR_UNKNOWN;
  return loader().vkResetCommandBuffer(commands, flags);
}
VKAPI_ATTR void VKAPI_CALL free_commands(VkDevice device, VkCommandPool pool, uint32_t count,
                                         const VkCommandBuffer* commands) {
  if (refused({commands, count}, "vkFreeCommandBuffers")) return;
  loader().vkFreeCommandBuffers(device, pool, count, commands);
}
VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  if (refused_here("vkQueueSubmit")) return VK_ERROR_UNKNOWN;
  return loader().vkQueueSubmit(queue, count, infos, fence);
}
VKAPI_ATTR VkResult VKAPI_CALL submit_2(VkQueue queue, uint32_t count, const VkSubmitInfo2* infos, VkFence fence) {
  if (refused_here("vkQueueSubmit2")) return VK_ERROR_UNKNOWN;
  return loader().vkQueueSubmit2(queue, count, infos, fence);
}
VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count, const VkBindSparseInfo* infos,
                                           VkFence fence) {
  if (refused_here("vkQueueBindSparse")) return VK_ERROR_UNKNOWN;
  return loader().vkQueueBindSparse(queue, count, infos, fence);
}
VKAPI_ATTR VkResult VKAPI_CALL wait_for_queue(VkQueue queue) {
  if (refused_here("vkQueueWaitIdle")) return VK_ERROR_UNKNOWN;
  return loader().vkQueueWaitIdle(queue);
}
VKAPI_ATTR VkResult VKAPI_CALL wait_for_device(VkDevice device) {
  if (refused_here("vkDeviceWaitIdle")) return VK_ERROR_UNKNOWN;
  return loader().vkDeviceWaitIdle(device);
}
VKAPI_ATTR void VKAPI_CALL begin_query(VkCommandBuffer commands, VkQueryPool pool, uint32_t query,
                                       VkQueryControlFlags flags) {
  Segment* const segment = Segment::recorded_here();
  if (segment && segment->commands() == commands) segment->count_query(1);
  loader().vkCmdBeginQuery(commands, pool, query, flags);
}
VKAPI_ATTR void VKAPI_CALL end_query(VkCommandBuffer commands, VkQueryPool pool, uint32_t query) {
  Segment* const segment = Segment::recorded_here();
  if (segment && segment->commands() == commands) segment->count_query(-1);
  loader().vkCmdEndQuery(commands, pool, query);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_guarded(VkDevice device, const char* name) {
  const struct {
    const char* name;
    PFN_vkVoidFunction entry;
  } guarded[] = {
      {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(find_guarded)},
      {"vkBeginCommandBuffer", reinterpret_cast<PFN_vkVoidFunction>(begin_commands)},
      {"vkEndCommandBuffer", reinterpret_cast<PFN_vkVoidFunction>(end_commands)},
      {"vkResetCommandBuffer", reinterpret_cast<PFN_vkVoidFunction>(reset_commands)},
      {"vkFreeCommandBuffers", reinterpret_cast<PFN_vkVoidFunction>(free_commands)},
      {"vkQueueSubmit", reinterpret_cast<PFN_vkVoidFunction>(submit)},
      // An old loader, or a device that was opened for an older version, has none. Under its name as an extension a device of
      // this driver never has it: none is turned on.
      {"vkQueueSubmit2", loader().vkQueueSubmit2 ? reinterpret_cast<PFN_vkVoidFunction>(submit_2) : nullptr},
      {"vkQueueBindSparse", reinterpret_cast<PFN_vkVoidFunction>(bind_sparse)},
      {"vkQueueWaitIdle", reinterpret_cast<PFN_vkVoidFunction>(wait_for_queue)},
      {"vkDeviceWaitIdle", reinterpret_cast<PFN_vkVoidFunction>(wait_for_device)},
      {"vkCmdBeginQuery", reinterpret_cast<PFN_vkVoidFunction>(begin_query)},
      {"vkCmdEndQuery", reinterpret_cast<PFN_vkVoidFunction>(end_query)},
  };
  for (const auto& one : guarded) {
    if (std::strcmp(one.name, name) == 0) return loader().vkGetDeviceProcAddr(device, name) ? one.entry : nullptr;
  }
  return loader().vkGetDeviceProcAddr(device, name);
}

}  // namespace

// ---- The segment ----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Segment>> Segment::begin(Ref<Context> context) {
  auto segment = std::unique_ptr<Segment>(new Segment(std::move(context)));
  BATON_TRY(segment->create());
  segment->watch_.reset(new Watch{recorded, {}});
  recorded = segment.get();
  return segment;
}

Status Segment::create() {
  BATON_TRY(context_->check());
  Context& context = *context_;
  const DeviceSymbols& symbols = context.symbols();
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = context.facts().queue_family;
  BATON_VULKAN_TRY(symbols, vkCreateCommandPool, context.handle(), &pool, nullptr, &pool_);
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  BATON_VULKAN_TRY(symbols, vkAllocateCommandBuffers, context.handle(), &info, &commands_);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  BATON_VULKAN_TRY(symbols, vkBeginCommandBuffer, commands_, &begin);
  first_barrier(symbols, commands_);
  return {};
}

Segment::~Segment() {
  if (watch_) recorded = watch_->outer;
  if (pool_) context_->symbols().vkDestroyCommandPool(context_->handle(), pool_, nullptr);
}

void Segment::describe(void* out) const {
  auto& handles = *static_cast<CommandBufferV1*>(out);
  handles.queue_family = context_->facts().queue_family;
  handles.physical_device = context_->facts().handle;
  handles.device = context_->handle();
  handles.command_buffer = commands_;
  handles.get_device_proc_addr = reinterpret_cast<void*>(find_guarded);
}

Status Segment::verdict(const std::string& heard) {
  if (refused_call_) {
    return failure(StatusCode::kFailedPrecondition, "It calls ", refused_call_,
                   ", which is refused there: ", refused_why_, ".");
  }
  if (open_queries_ != 0) {
    return failure(StatusCode::kFailedPrecondition, open_queries_ > 0 ? "It leaves " : "It ends ",
                   open_queries_ > 0 ? open_queries_ : -open_queries_, " queries ",
                   open_queries_ > 0 ? "open in its command buffer." : "that it has not begun in its command buffer.");
  }
  if (!heard.empty()) {
    return failure(StatusCode::kFailedPrecondition, "Vulkan's validation layer says of it: ", heard);
  }
  return {};
}

Status Segment::end() {
  const DeviceSymbols& symbols = context_->symbols();
  // What the guard refused was not done: the command buffer is still being recorded.
  last_barrier(symbols, commands_);
  Status ended = context_->status_of(symbols.vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  const std::unique_ptr<Watch> watch = std::move(watch_);
  recorded = watch->outer;
  BATON_TRY(verdict(watch->heard.first()));
  return ended;
}

Segment* Segment::recorded_here() { return recorded; }

bool Segment::refuses(std::span<const VkCommandBuffer> taken, const char* call) {
  if (std::find(taken.begin(), taken.end(), commands_) == taken.end()) return false;
  refuse(call, kOwned);
  return true;
}

void Segment::refuse(const char* call, const char* reason) {
  if (refused_call_) return;
  refused_call_ = call;
  refused_why_ = reason;
}

Status check_extension(std::string_view device, std::string_view name, const void* out) {
  if (name != kCommandBufferExtension) {
    return failure(StatusCode::kUnimplemented, "Device '", device, "' has no extension '", name, "'.");
  }
  const auto size = load_bytes<uint32_t>(out);
  if (size < sizeof(CommandBufferV1)) {
    return failure(StatusCode::kInvalidArgument, "Extension '", name, "' takes a struct of ", sizeof(CommandBufferV1),
                   " bytes; struct_size says ", size, ".");
  }
  return {};
}

}  // namespace baton::hal::drivers::vulkan
