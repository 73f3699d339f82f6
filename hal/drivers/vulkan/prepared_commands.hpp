// PreparedCommands: a recording's command buffers and its table of records, for the binding table that was bound last.
// A recording that is in flight several times at once with different tables has several.
//
// Binding a table costs what it changes: the slots that differ from the last one are checked, and their pointers and
// lengths stored; nothing is looked at when the host shows by its SlotTable that nothing was set (bound_table.hpp).
//
// Threads: as the recording that owns it, under whose lock it is claimed; then by its only user.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hal/drivers/common/bound_table.hpp"
#include "hal/drivers/vulkan/foreign_segments.hpp"
#include "hal/drivers/vulkan/memory.hpp"

namespace baton::hal::drivers::vulkan {

class Buffer;
class Device;
class Pipeline;
class Recording;
struct Launch;
struct Record;
struct Step;

// What a slot brings.
struct SlotValue {
  const Slab* slab = nullptr;
  uint64_t slab_id = 0;
  uint64_t address = 0;
  uint64_t length = 0;
  const Buffer* buffer = nullptr;  // Borrowed for the execution.
  uint64_t buffer_offset = 0;

  bool same_memory(const SlotValue& other) const {
    return address == other.address && length == other.length && slab_id == other.slab_id;
  }
};

struct Arguments {
  std::span<const SlotValue> slots;
  std::span<const uint32_t> constants;
};

// A binding table that an execution brings.
struct BindRequest {
  const BindingTable& table;
  bool checked;    // The caller checked that it fits the recording.
  uint64_t frees;  // How many buffers the queue had freed by then: a table that fitted before may name one of them.
};

class PreparedCommands {
 public:
  static Result<std::unique_ptr<PreparedCommands>> make(Device& device, const Recording& recording);
  ~PreparedCommands();

  using Bound = std::shared_ptr<BoundTable>;
  // What is bound, when that is what `request` brings; otherwise null.
  Bound find_bound(const BindRequest& request) const;
  // Brings the records, and where that is not enough the command buffers, to what `request` brings. A table that does
  // not fit changes nothing, and `unfit` says why. Buffers that are no longer bound go to `replaced`.
  Result<Bound> bind(const BindRequest& request, Status& unfit, std::vector<Ref<hal::Buffer>>& replaced);
  Arguments arguments() const { return {slots_, constants_}; }

  const Block& table() const { return table_; }
  // Of the device's work in a stretch of the recording, in order; a step of the host divides two stretches.
  std::span<const VkCommandBuffer> commands(size_t stretch = 0) const {
    return {commands_.data() + ends_[stretch], ends_[stretch + 1] - ends_[stretch]};
  }

  // Of the steps that call functions, in order; one that waits for its turn divides two stretches, too.
  std::span<ForeignSegments> foreign() { return foreign_; }

  uint32_t uses = 0;        // Executions under way.
  bool is_binding = false;  // A table is being bound, without the recording's lock.

 private:
  PreparedCommands(Device& device, const Recording& recording) : device_(device), recording_(recording) {}

  Status create();
  Status find_changes(const BindRequest& request, const BoundTable* last);
  bool bind_slot(BoundTable& bound, size_t slot, const BufferRange& range, std::vector<Ref<hal::Buffer>>& replaced);
  bool bind_constants(std::span<const uint32_t> constants);
  void write_table(const Arguments& arguments);
  void write_record(const Launch& launch, const Arguments& arguments);
  Status encode(const Arguments& arguments);
  void line_up();
  Status encode_step(const Step& step, VkCommandBuffer commands, const Arguments& arguments);
  Status encode_launch(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments);
  Status bind_descriptors(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments);
  void store(uint32_t at, uint64_t value);
  void store(uint32_t at, uint32_t value);

  Device& device_;
  const Recording& recording_;
  Block table_;  // Without a slab: the recording needs none.
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptor_pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> own_;          // Of the steps with launches.
  std::vector<ForeignSegments> foreign_;      // Of the steps that call functions.
  std::vector<VkCommandBuffer> commands_;     // All that there is to submit for what is bound,
  std::vector<size_t> ends_;                  // and where each stretch begins there and the last one ends.
  const Pipeline* bound_pipeline_ = nullptr;  // While a step is encoded.
  bool encoded_ = false;                      // What is bound stands in the records and in the command buffers.
  std::weak_ptr<BoundTable> bound_;           // While it lives, tables are compared with it.
  uint64_t bound_frees_ = 0;                  // When it was checked.
  std::vector<SlotValue> slots_;              // What the slots bring.
  std::vector<uint32_t> constants_;
  std::vector<uint32_t> changed_slots_;  // While a table is bound.
};

}  // namespace baton::hal::drivers::vulkan
