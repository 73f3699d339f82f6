// Recording: commands as the Vulkan driver runs them: launches of kernels, made once, and a table that says what they
// work on.
//
// The essay. Transfers are launches too, of kernels of the driver's own, so nearly every command is one: a pipeline, a
// grid, and a record {u64 pointer[n], u64 length[n], u32 constant[m], u32 workgroups} in a table that the device reads. The command
// buffer of Vulkan says only where each record is, so it is recorded once; a table of slots that changed costs the
// stores of those pointers, lengths and constants. Kernels by descriptors have their arguments inside
// the command buffer: a change to a slot that they use records it again.
//
// What others record (segment.hpp) has command buffers of its own between the recording's: a custom command's is made
// with the recording, a foreign function's for each table. What Vulkan cannot do, calls of the host, splits the
// recording into stretches, with a wait between. A foreign function may turn out to work on the host: its first call
// stands between two stretches, and so do all of one that never asks for a command buffer.
#pragma once

#include <atomic>
#include <mutex>

#include "base/bytes.hpp"
#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/vulkan/builtins.hpp"
#include "hal/drivers/vulkan/host_arguments.hpp"
#include "hal/drivers/vulkan/prepared_commands.hpp"
#include "hal/foreign_function.hpp"
#include "hal/recording.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::vulkan {

class Device;
class Executable;

enum class RecordKind : uint8_t { kLaunch, kBarrier, kHostStep, kSegment };
struct Record {
  RecordKind kind;
  Record* next = nullptr;
  const WorkLabel* label = nullptr;  // Null: there is no observer.
};

struct Launch : Record {
  static constexpr uint32_t kDirect = ~uint32_t{0};

  const Pipeline* pipeline = nullptr;
  std::span<const RecordedBinding> bindings = {};
  std::span<const uint32_t> constants = {};
  std::span<const ConstantSlot> constant_slots = {};
  uint32_t grid[3] = {1, 1, 1};         // As Vulkan gets it.
  uint32_t workgroups = 0;              // Of a row that is folded, what its record ends with.
  uint32_t grid_at = kDirect;           // Where in the table the grid is (CheckedGrid), else `grid`.
  uint32_t record_at = 0;               // Where in the table its record is.
  const Executable* checked = nullptr;  // Whose kernel checks its accesses; else null.
  uint32_t entry_point = 0;             // Of that.

  uint32_t lengths_at() const { return record_at + 8 * static_cast<uint32_t>(bindings.size()); }
  uint32_t constants_at() const { return record_at + 16 * static_cast<uint32_t>(bindings.size()); }
  uint32_t workgroups_at() const { return constants_at() + 4 * static_cast<uint32_t>(constants.size()); }
  // Of one that is checked, a FailedAccess.
  uint32_t failed_access_at() const {
    return static_cast<uint32_t>(align_up(workgroups_at() + 4, alignof(FailedAccess)));
  }
};

// What runs on the host, between two stretches of device work.
struct HostExecution {
  hal::Device& device;
  const Arguments& arguments;
};
struct HostStep : Record {
  Status (*run)(const HostStep& step, const HostExecution& execution) = nullptr;
};

// Commands that a module records into the VkCommandBuffer: a custom command did so while it recorded, or a foreign
// function does so for each table.
struct SegmentRecord : Record {
  const Segment* made = nullptr;        // The recording owns it.
  ForeignFunction* function = nullptr;  // Where it is null.
  HostStepArguments arguments;
  // The function has asked for a command buffer; until then it may be one that works on the host.
  mutable std::atomic<bool> records = false;
};

// Bytes that the table begins with, at update_buffer's place.
struct TableBytes {
  TableBytes* next;
  uint32_t at;
  std::span<const std::byte> bytes;
};

// One of three: launches and barriers, up to a null or to a record of another kind; a segment; a thing of the host.
struct Step {
  const Record* first = nullptr;
  const SegmentRecord* segment = nullptr;
  const HostStep* host = nullptr;
};

// Where a slot's pointer and length stand in the table.
struct SlotPatch {
  uint32_t pointer_at;
  uint32_t length_at;  // Of an open binding; else kNone.
  uint64_t offset;
  static constexpr uint32_t kNone = ~uint32_t{0};
};
// Where a constant slot stands.
struct ConstantPatch {
  uint32_t at;
};

// All that most slots need to be checked and patched, in few bytes: those that one kernel by address reads or writes,
// once.
struct SlotPlan {
  uint32_t pointer_at = kNone;  // kNone: what SlotIndex and the patches say.
  uint32_t length_at = kNone;
  uint32_t offset = 0;
  uint32_t length_min = 0;  // Of the table's range.
  static constexpr uint32_t kNone = SlotPatch::kNone;
};

// Patches by slot, side by side in memory.
template <typename Patch>
class PatchIndex {
 public:
  void reserve(size_t count) { added_.reserve(count); }
  void add(uint32_t slot, const Patch& patch) { added_.push_back({slot, patch}); }
  // Once all are added.
  void sort(size_t slot_count) {
    first_.assign(slot_count + 1, 0);
    for (const Added& one : added_) ++first_[one.slot + 1];
    for (size_t slot = 0; slot < slot_count; ++slot) first_[slot + 1] += first_[slot];
    patches_.resize(added_.size());
    std::vector<uint32_t> next(first_.begin(), first_.end());
    for (const Added& one : added_) patches_[next[one.slot]++] = one.patch;
    added_ = {};
  }
  // What stays where it is, for whoever looks at many slots.
  struct View {
    std::span<const Patch> of(size_t slot) const { return {patches + first[slot], patches + first[slot + 1]}; }
    const Patch* patches;
    const uint32_t* first;
  };
  View view() const { return {patches_.data(), first_.data()}; }
  std::span<const Patch> of(size_t slot) const { return view().of(slot); }

 private:
  struct Added {
    uint32_t slot;
    Patch patch;
  };

  std::vector<Added> added_;  // Until they are sorted.
  std::vector<Patch> patches_;
  std::vector<uint32_t> first_;  // By slot; one more at the end.
};

class Recording final : public hal::Recording {
 public:
  Recording(Device& device, const RecordingOptions& options);
  ~Recording() override;

  bool empty() const { return steps_.empty(); }
  // It takes a thread of the host to run it.
  bool has_host_steps() const {
    for (const SegmentRecord* record : foreign_) {
      if (!record->records.load(std::memory_order_relaxed)) return true;
    }
    return has_host_steps_;
  }
  // How it ends is known only when it is done.
  bool may_fail() const { return may_fail_; }
  const std::vector<Step>& steps() const { return steps_; }
  uint32_t table_bytes() const { return table_bytes_; }

  // Commands that are ready to be submitted for a table, and the table, which keeps its buffers.
  struct Claim {
    PreparedCommands* prepared;
    PreparedCommands::Bound bound;
  };
  // The caller gives them back with give_back() when the device is through with them. `unfit` says why the table does
  // not fit, if that is why there are none.
  Result<Claim> claim(const BindRequest& request, Status& unfit);
  void give_back(PreparedCommands& prepared);
  // What the device wrote into the table: of the grids that it read, and of accesses that it didn't make.
  Status outcome(const PreparedCommands& prepared) const;

 private:
  friend class CommandBuffer;
  friend class PreparedCommands;

  Status check_grid(const Launch& launch, std::byte* table) const;
  static Status check_access(const Launch& launch, std::byte* table);
  static Result<Claim> claimed(PreparedCommands& prepared, Result<PreparedCommands::Bound> bound,
                               std::unique_lock<std::mutex>& lock);
  void end_recording();
  void index_launch(const Launch& launch);
  void plan_slots();
  void split_into_steps();

  Device& vulkan_device_;
  Record* first_ = nullptr;
  TableBytes* table_contents_ = nullptr;
  uint32_t table_bytes_ = 0;
  uint32_t descriptor_sets_ = 0;
  uint32_t descriptors_ = 0;
  bool has_host_steps_ = false;
  bool may_fail_ = false;
  std::vector<const SegmentRecord*> foreign_;  // Functions that are called while a table is bound, or step by step.
  std::vector<std::unique_ptr<Segment>> segments_;  // What custom commands recorded.
  std::vector<Step> steps_;
  PatchIndex<SlotPatch> slot_patches_;
  PatchIndex<ConstantPatch> constant_patches_;
  std::vector<SlotPlan> slot_plans_;
  BufferUsage planned_usage_ = BufferUsage::kNone;   // Of a buffer that may stand in any slot with a plan.
  std::vector<bool> baked_slots_, baked_constants_;  // Those that kernels by descriptors use.

  std::mutex mutex_;
  std::vector<std::unique_ptr<PreparedCommands>> prepared_;  // Guarded by mutex_, the one used last at the end.
};

}  // namespace baton::hal::drivers::vulkan
