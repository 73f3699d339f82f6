#include "hal/drivers/vulkan/recording.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/executable.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// Idle ones beyond this go: a burst that had many in flight does not keep their tables forever.
constexpr size_t kIdleMax = 8;

}  // namespace

ResolvedBinding resolve(const RecordedBinding& binding, const Arguments& arguments, const Block& table) {
  if (binding.base == RecordedBinding::kTable) {
    return {table.slab, table.address() + binding.offset, table.offset + binding.offset, binding.length, nullptr, 0};
  }
  if (binding.base == RecordedBinding::kFixed) {
    const Block& block = binding.buffer->block();
    return {
        block.slab,    block.address() + binding.offset, block.offset + binding.offset, binding.length, binding.buffer,
        binding.offset};
  }
  const BufferRange& range = arguments.slots[binding.slot()];
  const auto& buffer = static_cast<const Buffer&>(*range.buffer);
  const uint64_t offset = range.offset + binding.offset;
  return {buffer.block().slab,
          buffer.address() + offset,
          buffer.block().offset + offset,
          binding.open ? range_length(range) - binding.offset : binding.length,
          &buffer,
          offset};
}

Recording::Recording(Device& device, const RecordingOptions& options)
    : hal::Recording(device, options),
      vulkan_device_(device),
      baked_slots_(options.slot_count),
      baked_constants_(options.constant_slot_count) {}

Recording::~Recording() = default;

void Recording::index_launch(const Launch& launch) {
  const bool by_address = launch.pipeline->by_address();
  if (!by_address && launch.pipeline->binding_count() != 0) {
    ++descriptor_sets_;
    descriptors_ += launch.pipeline->binding_count();
  }
  for (uint32_t i = 0; i < launch.bindings.size(); ++i) {
    const RecordedBinding& binding = launch.bindings[i];
    if (!binding.is_slot()) continue;
    if (!by_address) {
      baked_slots_[binding.slot()] = true;
      continue;
    }
    slot_patches_.add(binding.slot(), {launch.record_at + 8 * i,
                                       binding.open ? launch.lengths_at() + 8 * i : SlotPatch::kNone, binding.offset});
  }
  for (const ConstantSlot& slot : launch.constant_slots) {
    if (by_address) {
      constant_patches_.add(slot.slot, {launch.constants_at() + 4 * slot.constant});
    } else {
      baked_constants_[slot.slot] = true;
    }
  }
}

void Recording::split_into_steps() {
  bool in_step = false;
  for (const Record* record = first_; record; record = record->next) {
    if (record->kind == RecordKind::kBarrier) continue;
    if (record->kind == RecordKind::kHostStep) {
      steps_.push_back({.host = static_cast<const HostStep*>(record)});
      has_host_steps_ = true;
    } else if (record->kind == RecordKind::kSegment) {
      steps_.push_back({.segment = static_cast<const SegmentRecord*>(record)});
      if (!steps_.back().segment->made) foreign_.push_back(steps_.back().segment);
    } else if (!in_step) {
      steps_.push_back({.first = record});
    }
    in_step = record->kind == RecordKind::kLaunch;
  }
}

void Recording::plan_slots() {
  constexpr uint64_t kMost = ~uint32_t{0};
  const std::span<const SlotNeed> needs = slots().needs();
  slot_plans_.resize(needs.size());
  for (size_t slot = 0; slot < needs.size(); ++slot) {
    const SlotNeed& need = needs[slot];
    const std::span<const SlotPatch> patches = slot_patches_.of(slot);
    if (need.use_count != 1 || patches.size() != 1 || baked_slots_[slot] || need.host_writes) continue;
    if (need.length > kMost || patches[0].offset > kMost) continue;
    slot_plans_[slot] = {patches[0].pointer_at, patches[0].length_at, static_cast<uint32_t>(patches[0].offset),
                         static_cast<uint32_t>(need.length)};
    planned_usage_ |= need.usage;
  }
}

void Recording::end_recording() {
  slot_patches_.reserve(slots().uses().size());
  for (const Record* record = first_; record; record = record->next) {
    if (record->kind == RecordKind::kLaunch) index_launch(static_cast<const Launch&>(*record));
  }
  slot_patches_.sort(baked_slots_.size());
  plan_slots();
  constant_patches_.sort(baked_constants_.size());
  split_into_steps();
}

// The lock is held, and let go of before what is no longer bound.
Result<Recording::Claim> Recording::claimed(PreparedCommands& prepared, Result<PreparedCommands::Bound> bound,
                                            std::unique_lock<std::mutex>& lock) {
  if (bound.has_value()) {
    lock.unlock();
    prepared.replaced().clear();
    return Claim{&prepared, std::move(bound).value()};
  }
  const auto replaced = std::exchange(prepared.replaced(), {});
  --prepared.uses;
  lock.unlock();
  return std::move(bound).error();
}

Result<Recording::Claim> Recording::claim(const BindRequest& request, Status& unfit) {
  std::unique_lock lock(mutex_);
  PreparedCommands* idle = nullptr;
  for (size_t i = prepared_.size(); i-- > 0;) {
    PreparedCommands& one = *prepared_[i];
    if (one.uses == 0) idle = &one;
    if (one.is_binding) continue;
    // What the device writes into a table, and when it came by, is one execution's.
    if (one.uses != 0 && (may_fail_ || vulkan_device_.spans())) continue;
    if (one.uses == 0 && prepared_.size() == 1) break;
    if (auto bound = one.find_bound(request)) {
      ++one.uses;
      return Claim{&one, std::move(bound)};
    }
  }
  if (!idle) {
    BATON_TRY_ASSIGN(auto made, PreparedCommands::make(vulkan_device_, *this));
    idle = made.get();
    prepared_.push_back(std::move(made));
  }
  ++idle->uses;
  if (foreign_.empty()) return claimed(*idle, idle->bind(request, unfit), lock);
  // Code of others is called: it may wait for what gives this recording's tables back.
  idle->is_binding = true;
  lock.unlock();
  auto bound = idle->bind(request, unfit);
  lock.lock();
  idle->is_binding = false;
  return claimed(*idle, std::move(bound), lock);
}

void Recording::give_back(PreparedCommands& prepared) {
  std::unique_ptr<PreparedCommands> surplus;
  const std::lock_guard lock(mutex_);
  --prepared.uses;
  if (prepared.uses != 0 || prepared_.size() <= kIdleMax) return;
  const auto found =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const auto& one) { return one.get() == &prepared; });
  surplus = std::move(*found);
  prepared_.erase(found);
}

Status Recording::check_grid(const Launch& launch, std::byte* table) const {
  if (launch.grid_at == Launch::kDirect) return {};
  const auto checked = load_bytes<CheckedGrid>(table + launch.grid_at);
  if (!checked.refused) return {};
  std::memset(table + launch.grid_at, 0, sizeof(checked));  // For who executes it next.
  const auto most = vulkan_device_.context().facts().grid_max();
  size_t axis = 0;
  while (axis < 2 && checked.asked[axis] <= most[axis]) ++axis;
  return failure(StatusCode::kOutOfRange, "Indirect dispatch grid has ", checked.asked[axis], " workgroups in ",
                 "xyz"[axis], "; the device takes ", most[axis], ".");
}

Status Recording::check_access(const Launch& launch, std::byte* table) {
  if (!launch.checked) return {};
  const auto failed = load_bytes<FailedAccess>(table + launch.failed_access_at());
  if (failed.number == 0) return {};
  std::memset(table + launch.failed_access_at(), 0, sizeof(failed));
  return launch.checked->access_refused(launch.entry_point, failed);
}

Status Recording::outcome(const PreparedCommands& prepared) const {
  Status first;
  for (const Record* record = first_; record; record = record->next) {
    if (record->kind != RecordKind::kLaunch) continue;
    const auto& launch = static_cast<const Launch&>(*record);
    // All are looked at: the table is the next execution's.
    Status grid = check_grid(launch, prepared.table().host());
    if (first.ok()) first = std::move(grid);
    Status access = check_access(launch, prepared.table().host());
    if (first.ok()) first = std::move(access);
  }
  return first;
}

}  // namespace baton::hal::drivers::vulkan
