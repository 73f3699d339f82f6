// Segment: a command buffer of its own, which somebody else records: a custom command while it records
// (rec.vulkan()), or a foreign function (here.vulkan()). It is submitted in its place among the recording's own.
//
// The guard looks at it twice. What the other one gets to call Vulkan with is Vulkan's table, but for calls that would
// take the command buffer away from under the recording, or submit and wait behind the queue's back: those are refused,
// and noted. And what the validation layer says meanwhile is theirs. Either fails the command, by name and with the call.
// Threads: one at a time; the guard sees calls of the thread that began it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/validation.hpp"

namespace baton::hal::drivers::vulkan {

class Segment {
 public:
  // Begun, behind all that was submitted before.
  static Result<std::unique_ptr<Segment>> begin(Ref<Context> context);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The answer to CommandBufferV1.
  void describe(void* out) const;
  // Ends it; fails when the guard saw something. From then on it is only submitted.
  Status end();
  VkCommandBuffer commands() const { return commands_; }

  // What the guard refuses; for the entries that it stands behind.
  static Segment* recorded_here();
  bool refuses(std::span<const VkCommandBuffer> taken, const char* call);
  void refuse(const char* call, const char* reason);
  void count_query(int step) { open_queries_ += step; }

 private:
  // While a module records.
  struct Watch {
    Segment* outer;  // Of this thread, before.
    HeardHere heard;
  };

  explicit Segment(Ref<Context> context) : context_(std::move(context)) {}
  Status create();
  Status verdict(const std::string& heard);

  const Ref<Context> context_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::unique_ptr<Watch> watch_;
  const char* refused_call_ = nullptr;
  const char* refused_why_ = nullptr;
  int open_queries_ = 0;
};

// Checks what `name` asks for and how large its struct is. UNIMPLEMENTED for what the driver doesn't have.
Status check_extension(std::string_view device, std::string_view name, const void* out);

}  // namespace baton::hal::drivers::vulkan
