// Stamps: when the device came by the commands of a recording, for one PreparedCommands (work_spans.hpp).
//
// Each stretch of launches has a timestamp at its beginning and one behind each launch, in the command buffers themselves;
// what others record stands between two command buffers that hold a timestamp each.
// Threads: as the PreparedCommands that has them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::vulkan {

class WorkSpans;
struct Step;

// Queries of timestamps, and command buffers that may be submitted again and again.
class StampPool {
 public:
  static Result<StampPool> make(const Ref<Context>& context, uint32_t stamps, uint32_t command_buffers);
  StampPool(StampPool&& other) noexcept;
  StampPool& operator=(StampPool&&) = delete;
  ~StampPool();

  VkCommandBuffer commands(size_t index) const { return commands_[index]; }
  Status begin(size_t index) const;
  Status end(size_t index) const;
  void reset(VkCommandBuffer commands, uint32_t first, uint32_t count) const;
  void write(VkCommandBuffer commands, uint32_t stamp) const;
  // False: the device did not write all of them.
  bool read(uint32_t first, std::span<uint64_t> ticks) const;

 private:
  explicit StampPool(const Ref<Context>& context) : context_(context) {}

  Ref<Context> context_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> commands_;
};

class Stamps {
 public:
  // Null: the recording has no work of the device.
  static Result<std::unique_ptr<Stamps>> make(const Ref<Context>& context, std::span<const Step> steps);

  // Into the command buffer of a step with launches.
  void begin(VkCommandBuffer commands, size_t step) const;
  void behind(VkCommandBuffer commands, size_t step, uint32_t launch) const;
  // Around that of another one.
  VkCommandBuffer before(size_t step) const { return pool_.commands(places_[step].commands); }
  VkCommandBuffer after(size_t step) const { return pool_.commands(places_[step].commands + 1); }

  // The device is through with this step's.
  void tell(size_t step, WorkSpans& spans) const;

 private:
  struct Place {
    uint32_t first = 0;                    // Of its stamps.
    std::vector<const WorkLabel*> labels;  // Of what stands in front of each but the first; empty: it has none.
    uint32_t commands = 0;
  };
  explicit Stamps(StampPool pool) : pool_(std::move(pool)) {}

  StampPool pool_;
  std::vector<Place> places_;  // By step.
};

}  // namespace baton::hal::drivers::vulkan
