// PreparedCommands: a recording's command buffers and its table of records, for the binding table that was bound last.
// A recording that is in flight several times at once with different tables has several.
//
// Binding a table costs what it changes: the slots that differ from the last one are checked, and their pointers and
// lengths stored, in one pass: most of what a changed slot costs is memory that has left the caches since the last
// execution. Nothing is looked at when the host shows by its SlotTable that nothing was set (bound_table.hpp).
//
// Threads: as the recording that owns it, under whose lock it is claimed; then by its only user.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hal/drivers/common/bound_table.hpp"
#include "hal/drivers/vulkan/foreign_segments.hpp"
#include "hal/drivers/vulkan/memory.hpp"
#include "hal/drivers/vulkan/stamps.hpp"

namespace baton::hal::drivers::vulkan {

class Buffer;
class Device;
class Pipeline;
class Recording;
struct Launch;
struct Record;
struct Step;

struct Arguments {
  std::span<const BufferRange> slots;  // Of a slot that no command uses it may be anything.
  std::span<const uint32_t> constants;
};

// A binding table that an execution brings.
struct BindRequest {
  const BindingTable& table;
  bool checked;  // The caller checked that it fits the recording.
  // How many buffers the queue had freed then: since, it may have freed one that a checked table names.
  uint64_t frees;
};

class PreparedCommands {
 public:
  static Result<std::unique_ptr<PreparedCommands>> make(Device& device, const Recording& recording);
  ~PreparedCommands();

  using Bound = std::shared_ptr<BoundTable>;
  // What is bound, when that is what `request` brings; otherwise null.
  Bound find_bound(const BindRequest& request) const;
  // Brings the records, and where that is not enough the command buffers, to what `request` brings. Of a table that
  // does not fit, which `unfit` says, some slots may be bound all the same: the next one finds them different.
  Result<Bound> bind(const BindRequest& request, Status& unfit);
  // Whose buffers bind() took out of the slots. Who bound lets go of them, without the recording's lock.
  std::vector<Ref<hal::Buffer>>& replaced() { return replaced_; }
  // What `bound`, which it gave, stands for.
  Arguments arguments(const BoundTable& bound) const { return {bound.ranges, constants_}; }

  const Block& table() const { return table_; }
  // The command buffers for the device's work in one stretch of the recording, in order; a step of the host ends a
  // stretch.
  std::span<const VkCommandBuffer> commands(size_t stretch = 0) const {
    return {commands_.data() + ends_[stretch], ends_[stretch + 1] - ends_[stretch]};
  }

  // Of the steps that call functions, in order; one that waits for its turn divides two stretches, too.
  std::span<ForeignSegments> foreign() { return foreign_; }

  // Null: times on the device are not taken.
  const Stamps* stamps() const { return stamps_.get(); }
  // The device is through with all that was submitted; `spans` are the device's.
  void tell(WorkSpans& spans) const;

  uint32_t uses = 0;        // Executions under way.
  bool is_binding = false;  // A table is being bound, without the recording's lock.

 private:
  PreparedCommands(Device& device, const Recording& recording) : device_(device), recording_(recording) {}

  Status create();
  size_t slot_count() const;
  Status bind_slots(const BindRequest& request, bool is_last, BoundTable& bound);
  void bake(size_t slot, const BufferRange& range, uint64_t address);
  void bind_constants(std::span<const uint32_t> constants);
  void write_table(const Arguments& arguments);
  void write_record(const Launch& launch, const Arguments& arguments);
  Status encode(const Arguments& arguments);
  void line_up();
  Status encode_step(size_t step, VkCommandBuffer commands, const Arguments& arguments);
  void line_up_segment(size_t step, VkCommandBuffer commands);
  bool encode_copy(const Launch& launch, VkCommandBuffer commands);
  Status encode_launch(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments);
  Status bind_descriptors(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments);
  void store(uint32_t at, uint64_t value);
  void store(uint32_t at, uint32_t value);

  // Memory whose place stands in a command buffer.
  struct Baked {
    uint64_t address = 0;
    uint64_t length = 0;
    uint64_t slab_id = 0;
    bool operator==(const Baked&) const = default;
  };

  Device& device_;
  const Recording& recording_;
  Block table_;  // Without a slab: the recording needs none.
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> own_;          // Of the steps with launches.
  std::vector<ForeignSegments> foreign_;      // Of the steps that call functions.
  std::unique_ptr<Stamps> stamps_;            // Null: times on the device are not taken.
  std::vector<size_t> stamped_;               // The steps that are submitted, where there are stamps.
  std::vector<VkCommandBuffer> commands_;     // All that there is to submit for what is bound,
  std::vector<size_t> ends_;                  // and where each stretch begins there and the last one ends.
  const Pipeline* bound_pipeline_ = nullptr;  // While a step is encoded.
  bool written_ = false;                      // The records are there, with what is bound.
  bool encoded_ = false;                      // What is bound stands in the command buffers too.
  std::weak_ptr<BoundTable> bound_;           // While it lives, tables are compared with it.
  uint64_t bound_frees_ = 0;                  // When it was checked.
  std::vector<Baked> baked_;                  // By slot; empty where kernels by descriptors use none.
  std::vector<uint32_t> constants_;
  std::vector<Ref<hal::Buffer>> replaced_;  // Empty but while a table is bound; its storage stays.
};

}  // namespace baton::hal::drivers::vulkan
