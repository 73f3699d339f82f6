// What stands behind the imports "hal.*": a namespace for each noun, a function for each verb. hal_module.cpp gives
// them their names; README.md says what they mean to a program.
#pragma once

#include <string_view>
#include <tuple>

#include "modules/hal_module/kept_recordings.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/hal_module/resource.hpp"

namespace baton::modules::exports {

using sdk::Variadic;
using Bytes = std::span<const std::byte>;

namespace device {
std::tuple<bool, int64_t> query(hal::Device& device, std::string_view category, std::string_view key);
Result<Ref<hal::Buffer>> allocate(hal::Device& device, uint32_t memory, uint32_t usage, int64_t length);
Result<Ref<hal::Buffer>> constant(hal::Device& device, sdk::Blob& blob, int64_t offset, int64_t length);
Result<int64_t> load(hal::Device& device, hal::Buffer& buffer, int64_t offset, int32_t width);
}  // namespace device

namespace buffer {
int64_t length(const hal::Buffer& buffer);
Result<Ref<hal::Buffer>> subspan(hal::Buffer& buffer, int64_t offset, int64_t length);
Result<int64_t> load(hal::Buffer& buffer, int64_t offset, int32_t width);
Status store(hal::Buffer& buffer, int64_t offset, int32_t width, int64_t value);
}  // namespace buffer

namespace buffer_view {
Result<Ref<hal::BufferView>> create(hal::Buffer& buffer, int64_t offset, int64_t length, uint32_t element_type,
                                    uint32_t encoding, const Variadic<int64_t>& shape);
Ref<hal::Buffer> buffer(const hal::BufferView& view);
int32_t rank(const hal::BufferView& view);
Result<int64_t> dim(const hal::BufferView& view, int32_t index);
int32_t element_type(const hal::BufferView& view);
int32_t encoding(const hal::BufferView& view);
Status check(const hal::BufferView& view, std::string_view what, uint32_t element_type, uint32_t encoding,
             const Variadic<int64_t>& shape);
}  // namespace buffer_view

namespace queue {
Result<Ref<hal::Buffer>> allocate(hal::Device& device, hal::Fence* wait, hal::Fence* signal, uint32_t memory,
                                  uint32_t usage, int64_t length);
Status free(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& buffer);
Status fill_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& target, int64_t offset,
                   int64_t length, int64_t pattern, int32_t pattern_length);
Status update_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, Bytes source, int64_t source_offset,
                     hal::Buffer& target, int64_t offset, int64_t length);
Status copy_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& source,
                   int64_t source_offset, int64_t source_length, hal::Buffer& target, int64_t target_offset,
                   int64_t target_length);
Status execute(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Recording& recording,
               const Variadic<std::tuple<hal::Buffer*, int64_t, int64_t>>& table, const Variadic<uint32_t>& constants);
Status barrier(hal::Device& device, hal::Fence* wait, hal::Fence* signal);
Status transfer(hal::Device& source_device, hal::Device& device, hal::Fence* wait, hal::Fence* signal,
                hal::Buffer& source, int64_t source_offset, hal::Buffer& target, int64_t offset, int64_t length);
// A buffer of one of `devices`, where `device` has it, and when it is there.
Result<std::tuple<Ref<hal::Buffer>, Ref<hal::Fence>>> take(std::span<const Ref<hal::Device>> devices,
                                                           hal::Device& device, hal::Fence* wait, hal::Buffer& buffer);
}  // namespace queue

// What fence.await returns: a status code now, or something to wait for.
class FenceWait;

namespace fence {
Result<Ref<hal::Fence>> create(hal::Device& device);
Status signal(hal::Fence& fence);
Status fail(hal::Fence& fence, int32_t code, std::string_view message);
Ref<hal::Fence> join(const Variadic<hal::Fence*>& fences);
FenceWait await(int32_t timeout_millis, const Variadic<hal::Fence*>& fences);
Status check(hal::Fence* fence);
}  // namespace fence

namespace executable {
// Each variant is its format and its code.
using Variants = Variadic<std::tuple<std::string_view, sdk::Blob&>>;
Result<Ref<hal::Executable>> create(hal::Device& device, const Variants& variants);
// What the program knows of entry points and the code may not say: name, constants, bindings, the workgroup's size in
// x, y and z, bytes of local memory.
using EntryPoints = Variadic<std::tuple<std::string_view, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>>;
Result<Ref<hal::Executable>> create_with_entry_points(hal::Device& device, const Variants& variants,
                                                      const EntryPoints& entry_points);
// What entry points want of their launches: the entry point's index, the attribute's name, its value.
using LaunchAttributes = Variadic<std::tuple<uint32_t, std::string_view, int64_t>>;
Result<std::vector<hal::EntryPoint>> read_entry_points(const EntryPoints& entry_points,
                                                       const LaunchAttributes& attributes);
Result<Ref<hal::Executable>> create_with_launch_attributes(hal::Device& device, const Variants& variants,
                                                           const EntryPoints& entry_points,
                                                           const LaunchAttributes& attributes);
// Each variant says also how many of `constants` are its own; they follow each other in the variants' order.
using SpecializedVariants = Variadic<std::tuple<std::string_view, sdk::Blob&, uint32_t>>;
Result<Ref<hal::Executable>> create_specialized(hal::Device& device, const Variadic<uint32_t>& constants,
                                                const SpecializedVariants& variants);
Result<uint32_t> entry_point(hal::Executable& executable, std::string_view name);
uint32_t variant(const hal::Executable& executable);
}  // namespace executable

namespace channel {
Result<Ref<hal::Channel>> split(hal::Channel& channel, int32_t color, int32_t key);
uint32_t rank(const hal::Channel& channel);
uint32_t count(const hal::Channel& channel);
}  // namespace channel

// What a compiled program has recorded for sizes that may come again.
namespace kept_recordings {
sdk::Ref<KeptRecordings> create();
std::tuple<bool, sdk::Ref<Handle<hal::Recording>>> find(KeptRecordings& kept, const Variadic<int64_t>& keys);
void keep(KeptRecordings& kept, Handle<hal::Recording>& recording, const Variadic<int64_t>& keys);
}  // namespace kept_recordings

// What compiled programs say about sizes and indices that don't fit.
namespace bounds {
Status fail(int32_t code, std::string_view sentence, int64_t first, int64_t second);
}  // namespace bounds

namespace command_buffer {
using Commands = hal::CommandBuffer;
Result<sdk::Ref<Handle<Commands>>> create(hal::Device& device, std::string_view name, uint32_t slot_count,
                                          uint32_t constant_slot_count);
Status fill_buffer(Commands& commands, Resource target, int64_t pattern, uint32_t pattern_length);
Status update_buffer(Commands& commands, Bytes source, int64_t source_offset, Resource target);
Status copy_buffer(Commands& commands, Resource source, Resource target);
Status dispatch(Commands& commands, hal::Executable& executable, uint32_t entry_point, uint32_t x, uint32_t y,
                uint32_t z, const Variadic<uint32_t>& constants, const Variadic<Resource>& bindings);
Status dispatch_indirect(Commands& commands, hal::Executable& executable, uint32_t entry_point, Resource grid,
                         const Variadic<uint32_t>& constants, const Variadic<Resource>& bindings);
// The same, with constants that each execution fills: (constant, constant slot).
using ConstantSlots = Variadic<std::tuple<uint32_t, uint32_t>>;
Status dispatch_with_slots(Commands& commands, hal::Executable& executable, uint32_t entry_point, uint32_t x,
                           uint32_t y, uint32_t z, const Variadic<uint32_t>& constants, const ConstantSlots& slots,
                           const Variadic<Resource>& bindings);
Status dispatch_indirect_with_slots(Commands& commands, hal::Executable& executable, uint32_t entry_point,
                                    Resource grid, const Variadic<uint32_t>& constants, const ConstantSlots& slots,
                                    const Variadic<Resource>& bindings);
Status barrier(Commands& commands);
Status collective(Commands& commands, hal::Channel& channel, uint32_t operation, uint32_t reduction,
                  uint32_t element_type, uint32_t root, uint32_t to, uint32_t from, Resource source, Resource target);
Result<Ref<hal::Recording>> finish(Commands& commands);
}  // namespace command_buffer

}  // namespace baton::modules::exports
