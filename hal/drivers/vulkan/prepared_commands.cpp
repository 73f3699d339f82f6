#include "hal/drivers/vulkan/prepared_commands.hpp"

#include <algorithm>
#include <cstring>

#include "hal/drivers/vulkan/barriers.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/recording.hpp"
#include "hal/drivers/vulkan/work_order.hpp"

namespace baton::hal::drivers::vulkan {

namespace {

// Slots whose memory is asked for while one is bound: it has left the caches since the last execution.
constexpr size_t kAhead = 12;
// Stands for a moment at which everything has to be checked anew.
constexpr uint64_t kNeverChecked = ~uint64_t{0};

}  // namespace

Result<std::unique_ptr<PreparedCommands>> PreparedCommands::make(Device& device, const Recording& recording) {
  auto prepared = std::unique_ptr<PreparedCommands>(new PreparedCommands(device, recording));
  const auto& baked = recording.baked_slots_;
  if (std::find(baked.begin(), baked.end(), true) != baked.end()) prepared->baked_.resize(baked.size());
  prepared->constants_.resize(recording.constant_slot_count());
  BATON_TRY(prepared->create());
  return prepared;
}

Status PreparedCommands::create() {
  Context& context = device_.context();
  if (recording_.table_bytes() != 0) {
    BATON_TRY_ASSIGN(table_, device_.memory().take(recording_.table_bytes(), BlockKind::kHost));
  }
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = context.facts().queue_family;
  BATON_VULKAN_TRY(context.symbols(), vkCreateCommandPool, context.handle(), &pool, nullptr, &pool_);
  const auto& steps = recording_.steps();
  const auto of_launches = std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.first; });
  own_.resize(static_cast<size_t>(of_launches));
  for (const Step& step : steps) {
    if (step.segment && !step.segment->made) foreign_.emplace_back(*step.segment);
  }
  VkCommandBufferAllocateInfo buffers{};
  buffers.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  buffers.commandPool = pool_;
  buffers.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffers.commandBufferCount = static_cast<uint32_t>(own_.size());
  if (!own_.empty()) {
    BATON_VULKAN_TRY(context.symbols(), vkAllocateCommandBuffers, context.handle(), &buffers, own_.data());
  }
  if (device_.spans()) {
    BATON_TRY_ASSIGN(stamps_, Stamps::make(Ref<Context>(&context), steps));
  }
  if (recording_.descriptor_sets_ == 0) return {};
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, recording_.descriptors_};
  VkDescriptorPoolCreateInfo descriptors{};
  descriptors.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  descriptors.maxSets = recording_.descriptor_sets_;
  descriptors.poolSizeCount = 1;
  descriptors.pPoolSizes = &size;
  BATON_VULKAN_TRY(context.symbols(), vkCreateDescriptorPool, context.handle(), &descriptors, nullptr,
                   &descriptor_pool_);
  return {};
}

size_t PreparedCommands::slot_count() const { return recording_.slots().needs().size(); }

PreparedCommands::~PreparedCommands() {
  if (const Bound bound = bound_.lock()) device_.timeline().drop(bound);
  const Context& context = device_.context();
  context.symbols().vkDestroyCommandPool(context.handle(), pool_, nullptr);
  context.symbols().vkDestroyDescriptorPool(context.handle(), descriptor_pool_, nullptr);
  if (table_.slab) device_.memory().give(table_);
}

void PreparedCommands::store(uint32_t at, uint64_t value) { std::memcpy(table_.host() + at, &value, sizeof(value)); }
void PreparedCommands::store(uint32_t at, uint32_t value) { std::memcpy(table_.host() + at, &value, sizeof(value)); }

void PreparedCommands::write_record(const Launch& launch, const Arguments& arguments) {
  for (uint32_t i = 0; i < launch.bindings.size(); ++i) {
    const ResolvedBinding binding = resolve(launch.bindings[i], arguments, table_);
    store(launch.record_at + 8 * i, binding.address);
    store(launch.lengths_at() + 8 * i, binding.length);
  }
  for (uint32_t i = 0; i < launch.constants.size(); ++i) store(launch.constants_at() + 4 * i, launch.constants[i]);
  for (const ConstantSlot& slot : launch.constant_slots) {
    store(launch.constants_at() + 4 * slot.constant, arguments.constants[slot.slot]);
  }
  store(launch.workgroups_at(), launch.workgroups);
}

void PreparedCommands::write_table(const Arguments& arguments) {
  if (!table_.slab) return;
  std::memset(table_.host(), 0, static_cast<size_t>(table_.length));
  for (const TableBytes* part = recording_.table_contents_; part; part = part->next) {
    std::memcpy(table_.host() + part->at, part->bytes.data(), part->bytes.size());
  }
  for (const Record* record = recording_.first_; record; record = record->next) {
    if (record->kind != RecordKind::kLaunch) continue;
    const auto& launch = static_cast<const Launch&>(*record);
    if (launch.pipeline->by_address()) write_record(launch, arguments);
  }
}

PreparedCommands::Bound PreparedCommands::find_bound(const BindRequest& request) const {
  const auto& [table, checked, frees] = request;
  const auto is_stale = [](const ForeignSegments& segments) { return segments.is_stale(); };
  if (std::any_of(foreign_.begin(), foreign_.end(), is_stale)) return nullptr;
  if (!encoded_ || table.buffers.size() < slot_count() || table.constants.size() < constants_.size()) return nullptr;
  if (!std::equal(constants_.begin(), constants_.end(), table.constants.begin())) return nullptr;
  Bound bound = bound_.lock();
  if (!bound || !bound->equals(table)) return nullptr;
  if (!checked && (bound_frees_ != frees || bound->has_peers)) return nullptr;
  bound->note_source(table);
  return bound;
}

// Checks and binds the slots that differ from the last table, if `bound` is that, or all. What is the same for all slots,
// or for those of one buffer, is looked up once.
Status PreparedCommands::bind_slots(const BindRequest& request, bool is_last, BoundTable& bound) {
  const auto& [table, checked, frees] = request;
  BATON_TRY(recording_.check_constants(table.constants));
  const SlotIndex& slots = recording_.slots();
  const SlotNeed* const needs = slots.needs().data();
  const PatchIndex<SlotPatch>::View patches = recording_.slot_patches_.view();
  const hal::Allocator* const allocator = &device_.allocator();
  const size_t count = std::min(slot_count(), table.buffers.size());
  std::byte* const records = table_.slab ? table_.host() : nullptr;
  const bool has_baked = !baked_.empty();
  const SlotPlan* const plans = recording_.slot_plans_.data();
  size_t unfit = slot_count();  // The first.
  SlotBuffer of;
  uint64_t begin = 0;      // Its address,
  bool fits_plan = false;  // and whether it may stand in any slot that has a plan.
  const auto bind_one = [&](size_t slot) {
    if (unfit < slot) return;
    const BufferRange& range = table.buffers[slot];
    if (range.buffer != of.buffer) {
      of = SlotBuffer(range.buffer, allocator);
      begin = of.is_own ? static_cast<const Buffer*>(of.buffer)->address() : 0;
      fits_plan = of.usable && has_all(of.usage, recording_.planned_usage_);
    }
    const SlotPlan& plan = plans[slot];
    if (plan.pointer_at != SlotPlan::kNone && fits_plan) [[likely]] {
      if (slot + kAhead < count) {
        __builtin_prefetch(&table.buffers[slot + kAhead]);
        __builtin_prefetch(&bound.ranges[slot + kAhead], 1);
        const uint32_t next = plans[slot + kAhead].pointer_at;
        if (next != SlotPlan::kNone) __builtin_prefetch(records + next, 1);
      }
      const uint64_t length = range_length(range);
      const bool fits = length >= plan.length_min && range_inside(range.offset, length, of.length);
      if (!checked && !fits) [[unlikely]] {
        unfit = slot;
        return;
      }
      bound.set_used(slot, range, replaced_);
      const uint64_t pointer = begin + range.offset + plan.offset;
      std::memcpy(records + plan.pointer_at, &pointer, sizeof(pointer));
      if (plan.length_at == SlotPlan::kNone) return;
      const uint64_t open = length - plan.offset;
      std::memcpy(records + plan.length_at, &open, sizeof(open));
      return;
    }
    if (!checked && !slots.fits(slot, range, of)) [[unlikely]] {
      unfit = slot;
      return;
    }
    if (needs[slot].use_count == 0) {
      bound.ranges[slot] = range;  // It may be anything.
      return;
    }
    bound.set(slot, range, replaced_);
    const uint64_t address = begin + range.offset;
    for (const SlotPatch& patch : patches.of(slot)) {
      const uint64_t pointer = address + patch.offset;
      std::memcpy(records + patch.pointer_at, &pointer, sizeof(pointer));
      if (patch.length_at == SlotPatch::kNone) continue;
      const uint64_t length = range_length(range) - patch.offset;
      std::memcpy(records + patch.length_at, &length, sizeof(length));
    }
    if (has_baked) bake(slot, range, address);
  };
  if (!is_last) {
    for (size_t slot = 0; slot < count; ++slot) bind_one(slot);
  } else {
    // A slot that stayed the same fitted, unless its buffer was freed since.
    if (!checked && (bound_frees_ != frees || bound.has_peers)) BATON_TRY(slots.check(table.buffers, allocator));
    bound.visit_changes(table, bind_one);
  }
  if (checked || (unfit == slot_count() && count == slot_count())) [[likely]]
    return {};
  bound.forget_source();
  return slots.check(table.buffers, allocator);
}

// Kernels by descriptors have the slot in the command buffers.
void PreparedCommands::bake(size_t slot, const BufferRange& range, uint64_t address) {
  if (!recording_.baked_slots_[slot]) return;
  const Baked now{address, range_length(range), static_cast<const Buffer&>(*range.buffer).block().slab->id};
  if (now == baked_[slot]) return;
  baked_[slot] = now;
  encoded_ = false;
}

void PreparedCommands::bind_constants(std::span<const uint32_t> constants) {
  for (size_t slot = 0; slot < constants_.size(); ++slot) {
    if (constants[slot] == constants_[slot]) continue;
    constants_[slot] = constants[slot];
    if (recording_.baked_constants_[slot]) encoded_ = false;
    for (const ConstantPatch& patch : recording_.constant_patches_.of(slot)) store(patch.at, constants[slot]);
  }
}

Result<PreparedCommands::Bound> PreparedCommands::bind(const BindRequest& request, Status& unfit) {
  const BindingTable& table = request.table;
  const Bound last = encoded_ && table.buffers.size() >= slot_count() ? bound_.lock() : nullptr;
  const Bound bound = last ? last : std::make_shared<BoundTable>(slot_count());
  unfit = bind_slots(request, last != nullptr, *bound);
  if (!unfit.ok()) return unfit.clone();
  bind_constants(table.constants);
  const Arguments now = arguments(*bound);
  if (!written_) write_table(now);
  written_ = true;
  const bool lines_up = !encoded_ || !foreign_.empty();
  if (!encoded_) BATON_TRY(encode(now));
  // Until the functions have recorded for it.
  encoded_ = false;
  for (ForeignSegments& segments : foreign_) BATON_TRY(segments.bind(device_, now));
  if (lines_up) line_up();
  encoded_ = true;
  bound->note_source(table);
  bound_ = bound;
  // A caller that checked the table did so earlier: buffers may have been freed since.
  bound_frees_ = request.checked ? kNeverChecked : request.frees;
  return bound;
}

void PreparedCommands::line_up() {
  commands_.clear();
  ends_.assign(1, 0);
  stamped_.clear();
  size_t next_own = 0, next_foreign = 0;
  const std::vector<Step>& steps = recording_.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].host) {
      ends_.push_back(commands_.size());
    } else if (steps[i].first) {
      commands_.push_back(own_[next_own++]);
      if (stamps_) stamped_.push_back(i);
    } else if (steps[i].segment->made) {
      line_up_segment(i, steps[i].segment->made->commands());
    } else if (const ForeignSegments& called = foreign_[next_foreign++]; called.waits()) {
      ends_.push_back(commands_.size());
    } else if (called.commands()) {
      line_up_segment(i, called.commands());
    }
  }
  ends_.push_back(commands_.size());
}

void PreparedCommands::line_up_segment(size_t step, VkCommandBuffer commands) {
  if (!stamps_) return commands_.push_back(commands);
  commands_.insert(commands_.end(), {stamps_->before(step), commands, stamps_->after(step)});
  stamped_.push_back(step);
}

void PreparedCommands::tell(WorkSpans& spans) const {
  for (const size_t step : stamped_) stamps_->tell(step, spans);
}

Status PreparedCommands::encode(const Arguments& arguments) {
  Context& context = device_.context();
  BATON_VULKAN_TRY(context.symbols(), vkResetCommandPool, context.handle(), pool_, 0);
  if (descriptor_pool_) {
    BATON_VULKAN_TRY(context.symbols(), vkResetDescriptorPool, context.handle(), descriptor_pool_, 0);
  }
  size_t next = 0;
  for (size_t i = 0; i < recording_.steps().size(); ++i) {
    if (recording_.steps()[i].first) BATON_TRY(encode_step(i, own_[next++], arguments));
  }
  return {};
}

Status PreparedCommands::encode_step(size_t step, VkCommandBuffer commands, const Arguments& arguments) {
  const DeviceSymbols& symbols = device_.context().symbols();
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  BATON_VULKAN_TRY(symbols, vkBeginCommandBuffer, commands, &begin);
  first_barrier(symbols, commands);
  if (stamps_) stamps_->begin(commands, step);
  uint32_t launched = 0;
  WorkOrder order;
  bound_pipeline_ = nullptr;
  for (const Record* record = recording_.steps()[step].first; record; record = record->next) {
    if (record->kind == RecordKind::kBarrier) {
      order.barrier();
      continue;
    }
    if (record->kind != RecordKind::kLaunch) break;
    const auto& launch = static_cast<const Launch&>(*record);
    if (order.needs_barrier(launch.bindings, launch.grid_at)) work_barrier(symbols, commands);
    BATON_TRY(encode_launch(launch, commands, arguments));
    if (stamps_) stamps_->behind(commands, step, launched);
    ++launched;
  }
  last_barrier(symbols, commands);
  BATON_VULKAN_TRY(symbols, vkEndCommandBuffer, commands);
  return {};
}

// A copy between fixed buffers, which no table changes, is Vulkan's own; the kernel is for what slots change. Ranges that overlap are
// refused when they are recorded.
bool PreparedCommands::encode_copy(const Launch& launch, VkCommandBuffer commands) {
  if (launch.pipeline != device_.builtins().copy.get()) return false;
  for (const RecordedBinding& binding : launch.bindings) {
    if (binding.base != RecordedBinding::kFixed) return false;
  }
  const RecordedBinding &source = launch.bindings[0], &target = launch.bindings[1];
  const Block &from = source.buffer->block(), &to = target.buffer->block();
  const VkBufferCopy copy = {from.offset + source.offset, to.offset + target.offset, target.length};
  device_.context().symbols().vkCmdCopyBuffer(commands, from.slab->buffer, to.slab->buffer, 1, &copy);
  return true;
}

Status PreparedCommands::encode_launch(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments) {
  if (encode_copy(launch, commands)) return {};
  const DeviceSymbols& symbols = device_.context().symbols();
  const Pipeline& pipeline = *launch.pipeline;
  if (bound_pipeline_ != &pipeline) {
    BATON_TRY_ASSIGN(const VkPipeline handle, pipeline.handle());
    symbols.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, handle);
    bound_pipeline_ = &pipeline;
  }
  if (pipeline.by_address()) {
    const uint64_t record = table_.address() + launch.record_at;
    symbols.vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(record), &record);
  } else {
    BATON_TRY(bind_descriptors(launch, commands, arguments));
  }
  if (launch.grid_at == Launch::kDirect) {
    symbols.vkCmdDispatch(commands, launch.grid[0], launch.grid[1], launch.grid[2]);
  } else {
    symbols.vkCmdDispatchIndirect(commands, table_.slab->buffer, table_.offset + launch.grid_at);
  }
  return {};
}

}  // namespace baton::hal::drivers::vulkan
