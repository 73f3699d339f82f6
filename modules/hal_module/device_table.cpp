// baton_device_table over the HAL: devices, buffers, tensors, fences and executables for modules.

#include <memory>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/executable_registry.hpp"
#include "hal/queue.hpp"
#include "modules/door_checks.hpp"
#include "modules/hal_module/custom_command.hpp"
#include "modules/hal_module/fence_notice.hpp"
#include "modules/hal_module/memory_request.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/sdk/device.h"

// A reference that brings nothing with it: null where modules/kernel_library is not linked.
extern "C" [[gnu::weak]] const baton_kernel_table* baton_kernel_functions(void);

namespace baton::modules {
namespace {

static_assert(to_bits(hal::MemoryKind::kHostVisible) == BATON_MEMORY_HOST_VISIBLE);
static_assert(to_bits(hal::MemoryKind::kHostCached) == BATON_MEMORY_HOST_CACHED);
static_assert(to_bits(hal::BufferUsage::kAll) == BATON_USAGE_ALL);
static_assert(to_bits(hal::BufferUsage::kMapping) == BATON_USAGE_MAPPING);
static_assert(to_bits(hal::BufferUsage::kIndirectGrid) == BATON_USAGE_INDIRECT_GRID);
static_assert(static_cast<uint32_t>(hal::ElementType::kBF16) == BATON_ELEMENT_BF16);
static_assert(static_cast<uint32_t>(hal::ElementType::kU64) == BATON_ELEMENT_U64);
static_assert(static_cast<uint32_t>(hal::Encoding::kDenseRowMajor) == BATON_ENCODING_DENSE_ROW_MAJOR);

// ---- Through the door and back --------------------------------------------------------------------------------------

// The HAL object inside an object of the door; null when that is null or holds something else.
template <HalObject T>
T* held(const void* object) {
  return unwrap<T>(static_cast<baton_object*>(const_cast<void*>(object)));
}
hal::Device* house(const baton_device* device) { return held<hal::Device>(device); }
hal::Buffer* house(const baton_buffer* buffer) { return held<hal::Buffer>(buffer); }
hal::BufferView* house(const baton_buffer_view* view) { return held<hal::BufferView>(view); }
hal::Executable* house(const baton_executable* executable) { return held<hal::Executable>(executable); }
hal::Fence* house(const baton_fence* fence) { return held<hal::Fence>(fence); }

// The sentence for what `object` should have held, or for a missing place.
template <typename T>
[[gnu::cold]] Status is_none(const T*) {
  return failure(StatusCode::kInvalidArgument, "What is passed as a '", ObjectName<T>::kText,
                 "' is null or another object.");
}
template <typename T, typename Out>
baton_status* lacking(const T* object, Out* out) {
  if (!object) [[unlikely]]
    return to_door(is_none(object));
  return out ? nullptr : missing("place for the result");
}

std::string_view house(baton_string text) { return {text.data, static_cast<size_t>(text.size)}; }

// What was made, or why not.
template <typename T, typename Door>
baton_status* give(Result<Ref<T>> made, Door** out) {
  if (!made) return to_door(std::move(made).error());
  *out = reinterpret_cast<Door*>(wrap(std::move(*made)).detach());
  return nullptr;
}

// A request of the size that version 2 knows; later ones are longer.
template <typename Request>
Status check_size(const Request* request) {
  if (request && request->struct_size >= sizeof(Request)) return {};
  return failure(StatusCode::kInvalidArgument, "A module makes a request of ", request ? request->struct_size : 0,
                 " bytes; it takes ", sizeof(Request), " or more.");
}

// ---- Devices and executables ----------------------------------------------------------------------------------------

const void* device_identity(const baton_device* device) { return house(device); }

baton_string device_name(const baton_device* device) {
  const hal::Device* const named = house(device);
  if (!named) return {};
  return {named->name().data(), named->name().size()};
}

baton_status* device_query(baton_device* device, baton_string category, baton_string key, int64_t* out_value) {
  hal::Device* const asked = house(device);
  if (baton_status* status = lacking(asked, out_value)) return status;
  if (lacks(category) || lacks(key)) return missing("text of a query");
  auto value = asked->query(house(category), house(key));
  if (!value) return to_door(std::move(value).error());
  *out_value = *value;
  return nullptr;
}

hal::EntryPoint entry_point(const baton_entry_point& given) {
  hal::EntryPoint entry;
  entry.name = house(given.name);
  entry.constant_count = given.constant_count;
  entry.binding_count = given.binding_count;
  entry.layout_known = given.flags & BATON_LAUNCH_LAYOUT_KNOWN;
  entry.local_memory_bytes = given.local_memory_bytes;
  entry.launch.cooperative = given.flags & BATON_LAUNCH_COOPERATIVE;
  entry.launch.early = given.flags & BATON_LAUNCH_EARLY;
  if (given.local_memory_carveout) entry.launch.local_memory_carveout_percent = given.local_memory_carveout - 1;
  entry.launch.priority = given.priority;
  std::copy(std::begin(given.workgroup_size), std::end(given.workgroup_size), entry.workgroup_size);
  std::copy(std::begin(given.cluster_size), std::end(given.cluster_size), entry.launch.cluster_size);
  return entry;
}

Result<Ref<hal::Executable>> make_executable(hal::Device& device, const baton_executable_request* request) {
  BATON_TRY(check_size(request));
  if (lacks(request->name)) return is_null("name of an executable");
  if (lacks(request->variants, request->variant_count)) return is_null("array of variants");
  if (lacks(request->constants, request->constant_count)) return is_null("array of constants");
  std::vector<hal::EntryPoint> expected;
  if (request->struct_size >= sizeof(baton_executable_request_v3)) {
    const auto& more = *reinterpret_cast<const baton_executable_request_v3*>(request);
    if (lacks(more.entry_points, more.entry_point_count)) return is_null("array of entry points");
    for (uint64_t i = 0; i < more.entry_point_count; ++i) {
      if (lacks(more.entry_points[i].name)) return is_null("name of an entry point");
      expected.push_back(entry_point(more.entry_points[i]));
    }
  }
  std::vector<hal::ExecutableVariant> variants;
  for (uint32_t i = 0; i < request->variant_count; ++i) {
    const auto& [format, data, size] = request->variants[i];
    if (lacks(format) || lacks(data, size)) return is_null("code of a variant, or its format,");
    variants.push_back({house(format), {static_cast<const std::byte*>(data), static_cast<size_t>(size)}});
  }
  return device.make_executable({.name = house(request->name),
                                 .variants = variants,
                                 .constants = {request->constants, static_cast<size_t>(request->constant_count)},
                                 .expected = expected});
}
baton_status* executable_make(baton_device* device, const baton_executable_request* request, baton_executable** out) {
  hal::Device* const on = house(device);
  if (baton_status* status = lacking(on, out)) return status;
  return give(make_executable(*on, request), out);
}

baton_status* executable_lookup(baton_device* device, baton_string name, baton_executable** out) {
  hal::Device* const on = house(device);
  if (baton_status* status = lacking(on, out)) return status;
  if (lacks(name)) return missing("name of an executable");
  const hal::ExecutableRegistry none;
  const hal::ExecutableRegistry* registered = on->executables();
  return give((registered ? *registered : none).load(*on, house(name)), out);
}

baton_status* executable_entry_point(const baton_executable* executable, baton_string name, uint32_t* out_index) {
  hal::Executable* const code = house(executable);
  if (baton_status* status = lacking(code, out_index)) return status;
  if (lacks(name)) return missing("name of an entry point");
  auto index = code->find(house(name));
  if (!index) return to_door(std::move(index).error());
  *out_index = *index;
  return nullptr;
}

// ---- Buffers --------------------------------------------------------------------------------------------------------

Result<hal::AllocationRequest> allocation(const baton_buffer_request* request) {
  BATON_TRY(check_size(request));
  return memory_request(request->memory, request->usage, static_cast<int64_t>(request->length));
}

baton_status* buffer_allocate(baton_device* device, const baton_buffer_request* request, baton_buffer** out) {
  hal::Device* const on = house(device);
  if (baton_status* status = lacking(on, out)) return status;
  const auto asked = allocation(request);
  if (!asked) return to_door(asked.error().clone());
  return give(on->allocator().allocate(*asked), out);
}

baton_status* buffer_subspan(baton_buffer* buffer, uint64_t offset, uint64_t length, baton_buffer** out) {
  hal::Buffer* const whole = house(buffer);
  if (baton_status* status = lacking(whole, out)) return status;
  return give(whole->subspan(offset, length), out);
}

uint64_t buffer_length(const baton_buffer* buffer) {
  const hal::Buffer* const measured = house(buffer);
  return measured ? measured->length() : 0;
}

Result<Ref<hal::Device>> device_of(const hal::Buffer& buffer) {
  if (hal::Device* device = buffer.allocator()->device()) return Ref<hal::Device>(device);
  return failure(StatusCode::kUnimplemented, "A buffer of ", buffer.length(), " bytes does not tell its device.");
}
baton_status* buffer_device(baton_buffer* buffer, baton_device** out) {
  const hal::Buffer* const owned = house(buffer);
  if (baton_status* status = lacking(owned, out)) return status;
  return give(device_of(*owned), out);
}

Status map(hal::Buffer& buffer, uint32_t access, uint64_t offset, uint64_t length, baton_mapping& out) {
  const bool discards = access == (BATON_ACCESS_WRITE | BATON_ACCESS_DISCARD);
  if (access == 0 || (access > BATON_ACCESS_READ_WRITE && !discards)) {
    return failure(StatusCode::kInvalidArgument, "A mapping has access ", access,
                   "; 1 reads, 2 writes, 3 does both, 6 writes and discards what was there.");
  }
  BATON_TRY_ASSIGN(hal::Mapping mapped, buffer.map(static_cast<hal::Access>(access), offset, length));
  const std::span<std::byte> bytes = mapped.bytes();
  out = {bytes.data(), bytes.size(), new hal::Mapping(std::move(mapped))};
  return {};
}
baton_status* buffer_map(baton_buffer* buffer, uint32_t access, uint64_t offset, uint64_t length, baton_mapping* out) {
  hal::Buffer* const mapped = house(buffer);
  if (baton_status* status = lacking(mapped, out)) return status;
  return to_door(map(*mapped, access, offset, length, *out));
}
void buffer_unmap(baton_mapping* mapping) {
  if (!mapping) return;
  delete static_cast<hal::Mapping*>(mapping->self);
  *mapping = {};
}

// ---- Buffer views ---------------------------------------------------------------------------------------------------

Result<Ref<hal::BufferView>> make_view(hal::Buffer& buffer, const baton_buffer_view_request* request) {
  BATON_TRY(check_size(request));
  const auto element_type = static_cast<hal::ElementType>(request->element_type);
  if (hal::element_type_name(element_type) == "none" || request->encoding > BATON_ENCODING_DENSE_ROW_MAJOR) {
    return failure(StatusCode::kInvalidArgument, "A tensor has element type ", request->element_type, " and encoding ",
                   request->encoding, ", one of which does not exist.");
  }
  if (lacks(request->shape, request->rank)) return is_null("shape of a tensor");
  if (request->rank > UINT16_MAX) {
    return failure(StatusCode::kInvalidArgument, "A shape has ", request->rank, " dimensions; at most ", UINT16_MAX,
                   " are possible.");
  }
  return hal::BufferView::make(Ref<hal::Buffer>(&buffer), {request->shape, request->rank}, element_type,
                               static_cast<hal::Encoding>(request->encoding));
}
baton_status* buffer_view_make(baton_buffer* buffer, const baton_buffer_view_request* request,
                               baton_buffer_view** out) {
  hal::Buffer* const viewed = house(buffer);
  if (baton_status* status = lacking(viewed, out)) return status;
  return give(make_view(*viewed, request), out);
}

baton_buffer* buffer_view_buffer(baton_buffer_view* view) {
  const hal::BufferView* const viewed = house(view);
  return viewed ? reinterpret_cast<baton_buffer*>(wrap(viewed->buffer()).detach()) : nullptr;
}
uint32_t buffer_view_element_type(const baton_buffer_view* view) {
  const hal::BufferView* const viewed = house(view);
  return viewed ? static_cast<uint32_t>(viewed->element_type()) : 0;
}
uint32_t buffer_view_encoding(const baton_buffer_view* view) {
  const hal::BufferView* const viewed = house(view);
  return viewed ? static_cast<uint32_t>(viewed->encoding()) : BATON_ENCODING_OPAQUE;
}
const int64_t* buffer_view_shape(const baton_buffer_view* view, uint64_t* out_rank) {
  const hal::BufferView* const viewed = house(view);
  const std::span<const int64_t> shape = viewed ? viewed->shape() : std::span<const int64_t>();
  if (out_rank) *out_rank = shape.size();
  return shape.data();
}

// ---- Fences ---------------------------------------------------------------------------------------------------------

Result<Ref<hal::Fence>> make_fence(hal::Device& device) {
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> semaphore, device.make_semaphore(0));
  return hal::Fence::at(*semaphore, 1);
}
baton_status* fence_make(baton_device* device, baton_fence** out) {
  hal::Device* const on = house(device);
  if (baton_status* status = lacking(on, out)) return status;
  return give(make_fence(*on), out);
}

baton_status* fence_wait(const baton_fence* fence, int64_t timeout_ns) {
  if (!fence) return nullptr;
  const hal::Fence* const awaited = house(fence);
  return to_door(awaited ? awaited->wait(timeout_ns) : is_none(awaited));
}
baton_status* fence_signal(const baton_fence* fence) {
  if (!fence) return nullptr;
  hal::Fence* const signalled = house(fence);
  return to_door(signalled ? signalled->signal() : is_none(signalled));
}

// What has passed stays passed.
void fail(const hal::Fence* fence, const Status& why) {
  if (!fence) return;
  for (const hal::SemaphorePoint& point : fence->points()) {
    if (!point.semaphore->reached(point.value)) point.semaphore->fail(why);
  }
}
void fence_fail(const baton_fence* fence, const baton_status* why) {
  const auto* failure = reinterpret_cast<const Status::Failure*>(why);
  const Status unknown(StatusCode::kUnknown, "A fence is failed without a reason.");
  fail(house(fence), failure ? Status(failure->code, failure->message) : unknown.clone());
}

struct Listener {
  void (*ready)(void* data, const baton_status* failure);
  void* data;
};
void fence_on_ready(const baton_fence* fence, void (*ready)(void* data, const baton_status* failure), void* data) {
  const hal::Fence* const awaited = house(fence);
  if (!ready) return;
  if (fence && !awaited) {
    baton_status* const none = to_door(is_none(awaited));
    ready(data, none);
    const Status dropped = Status::adopt(reinterpret_cast<Status::Failure*>(none));
    return;
  }
  const auto call = [](void* listener, const Status& status) {
    const std::unique_ptr<Listener> owned(static_cast<Listener*>(listener));
    Status lent = status.clone();
    baton_status* const failure = reinterpret_cast<baton_status*>(lent.release());
    owned->ready(owned->data, failure);
    lent = Status::adopt(reinterpret_cast<Status::Failure*>(failure));
  };
  notify(awaited, call, new Listener{ready, data});
}

// ---- The queue ------------------------------------------------------------------------------------------------------

// None for null.
Status add_points(const baton_fence* fence, std::span<const hal::SemaphorePoint>& points) {
  const hal::Fence* const given = house(fence);
  if (given) points = given->points();
  return given || !fence ? Status() : is_none(given);
}
Result<hal::Order> order_of(const baton_fence* wait, const baton_fence* signal) {
  hal::Order order;
  BATON_TRY(add_points(wait, order.waits));
  BATON_TRY(add_points(signal, order.signals));
  return order;
}

// Who waits for a refused operation learns of it too.
baton_status* settle(Status status, const baton_fence* signal) {
  if (!status.ok()) fail(house(signal), status);
  return to_door(std::move(status));
}

Result<Ref<hal::Buffer>> allocate_on(hal::Queue& queue, const Result<hal::Order>& order,
                                     const baton_buffer_request* request) {
  if (!order) return order.error().clone();
  BATON_TRY_ASSIGN(const hal::AllocationRequest asked, allocation(request));
  return queue.allocate(*order, asked);
}
baton_status* queue_allocate(baton_device* device, const baton_fence* wait, const baton_fence* signal,
                             const baton_buffer_request* request, baton_buffer** out) {
  hal::Device* const on = house(device);
  if (baton_status* status = lacking(on, out)) return status;
  auto buffer = allocate_on(on->queue(), order_of(wait, signal), request);
  if (!buffer) return settle(std::move(buffer).error(), signal);
  return give(std::move(buffer), out);
}
baton_status* queue_free(baton_device* device, const baton_fence* wait, const baton_fence* signal,
                         baton_buffer* buffer) {
  hal::Device* const on = house(device);
  hal::Buffer* const freed = house(buffer);
  if (!on || !freed) return settle(on ? is_none(freed) : is_none(on), signal);
  const auto order = order_of(wait, signal);
  return settle(order ? on->queue().free(*order, *freed) : order.error().clone(), signal);
}
baton_status* queue_barrier(baton_device* device, const baton_fence* wait, const baton_fence* signal) {
  hal::Device* const on = house(device);
  if (!on) return settle(is_none(on), signal);
  const auto order = order_of(wait, signal);
  return settle(order ? on->queue().barrier(*order) : order.error().clone(), signal);
}

}  // namespace

constinit const baton_device_table kDeviceTable = {
    .struct_size = sizeof(baton_device_table),
    .reserved = 0,
    .device_type = &sdk::detail::kObjectType<Handle<hal::Device>>,
    .buffer_type = &sdk::detail::kObjectType<Handle<hal::Buffer>>,
    .buffer_view_type = &sdk::detail::kObjectType<Handle<hal::BufferView>>,
    .fence_type = &sdk::detail::kObjectType<Handle<hal::Fence>>,
    .executable_type = &sdk::detail::kObjectType<Handle<hal::Executable>>,
    .device_identity = device_identity,
    .device_name = device_name,
    .device_query = device_query,
    .executable_make = executable_make,
    .executable_lookup = executable_lookup,
    .executable_entry_point = executable_entry_point,
    .buffer_allocate = buffer_allocate,
    .buffer_subspan = buffer_subspan,
    .buffer_length = buffer_length,
    .buffer_device = buffer_device,
    .buffer_map = buffer_map,
    .buffer_unmap = buffer_unmap,
    .buffer_view_make = buffer_view_make,
    .buffer_view_buffer = buffer_view_buffer,
    .buffer_view_element_type = buffer_view_element_type,
    .buffer_view_encoding = buffer_view_encoding,
    .buffer_view_shape = buffer_view_shape,
    .fence_make = fence_make,
    .fence_wait = fence_wait,
    .fence_signal = fence_signal,
    .fence_fail = fence_fail,
    .fence_on_ready = fence_on_ready,
    .queue_allocate = queue_allocate,
    .queue_free = queue_free,
    .queue_barrier = queue_barrier,
    .kernels = baton_kernel_functions,
};

}  // namespace baton::modules
