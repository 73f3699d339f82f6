// Devices for C programs: modules/sdk/embed_device.h over the HAL and its module.
#include "modules/sdk/embed_device.h"

#include <span>

#include "hal/allocator.hpp"
#include "hal/dlpack.hpp"
#include "hal/drivers/local/kernel_crash.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/host_copy.hpp"
#include "modules/collective_module/collective_module.hpp"
#include "modules/door_checks.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/plugin_loader.hpp"
#include "modules/sdk/kernel_library.h"

namespace {

using baton::Ref;
using baton::Result;
using baton::Status;
using baton::StatusCode;
using baton::modules::lacks;
using baton::modules::missing;
using baton::modules::missing_room;
using baton::modules::to_door;
namespace hal = baton::hal;

baton_object* as_object(const void* object) { return static_cast<baton_object*>(const_cast<void*>(object)); }

// Modules find kernels through the table of devices, which refers to them weakly: who opens devices brings them.
[[gnu::used]] const baton_kernel_table* (*const kKernels)() = baton_kernel_functions;
// The same for libraries of TVM-FFI, to which the loader of plugins refers.
[[gnu::used]] const baton::modules::OtherLibraries& (*const kOtherLibraries)() = baton::modules::other_libraries;

// Writes `out` on success, else returns the failure.
template <typename T, typename Door>
baton_status* give(Result<Ref<T>> made, Door** out) {
  if (!made) return to_door(std::move(made).error());
  *out = reinterpret_cast<Door*>(baton::modules::wrap(*std::move(made)).detach());
  return nullptr;
}

Result<Ref<hal::Device>> open(const char* uri) {
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  return drivers.open(uri);
}

Result<Ref<hal::Device>> device_in(const void* object) {
  hal::Device* device = baton::modules::unwrap<hal::Device>(as_object(object));
  if (!device) return failure(StatusCode::kInvalidArgument, "A device is null or another object.");
  return Ref<hal::Device>(device);
}

Result<Ref<const baton::vm::Module>> make_hal(std::span<baton_device* const> given) {
  baton::modules::HalModuleOptions options;
  for (const baton_device* device : given) {
    BATON_TRY_ASSIGN(Ref<hal::Device> one, device_in(device));
    options.devices.push_back(std::move(one));
  }
  return baton::modules::make_hal_module(std::move(options));
}

Result<Ref<const baton::vm::Module>> make_collective() {
  BATON_TRY_ASSIGN(hal::Ranks ranks, hal::ranks_of_process());
  return baton::modules::make_collective_module(std::move(ranks));
}

baton_status* give_module(Result<Ref<const baton::vm::Module>> made, baton_module** out) {
  if (!made) return to_door(std::move(made).error());
  *out = const_cast<baton_module*>(reinterpret_cast<const baton_module*>((*made).detach()));
  return nullptr;
}

struct TensorSource {
  uint32_t element_type;
  std::span<const int64_t> shape;
  std::span<const std::byte> bytes;
};

Result<Ref<hal::BufferView>> upload(const baton_device* target, const TensorSource& tensor) {
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, device_in(target));
  return hal::upload_view(*device, static_cast<hal::ElementType>(tensor.element_type), tensor.shape, tensor.bytes);
}

Result<Ref<hal::BufferView>> view_in(const baton_buffer_view* object) {
  hal::BufferView* view = baton::modules::unwrap<hal::BufferView>(as_object(object));
  if (!view) return failure(StatusCode::kInvalidArgument, "A buffer view is null or another object.");
  return Ref<hal::BufferView>(view);
}

Status download(const baton_buffer_view* source, std::span<std::byte> target) {
  BATON_TRY_ASSIGN(const Ref<hal::BufferView> view, view_in(source));
  if (view->length_bytes() != target.size()) {
    return failure(StatusCode::kInvalidArgument, "A tensor ", view->type_text(), " has ", view->length_bytes(),
                   " bytes; ", target.size(), " were asked for.");
  }
  hal::Device* device = view->buffer()->allocator()->device();
  if (!device) return failure(StatusCode::kUnimplemented, "The buffer of a tensor does not tell its device.");
  return hal::copy_to_host(*device, view->buffer(), target);
}

Result<Ref<hal::BufferView>> import_peer(const baton_device* target, const baton_buffer_view* source) {
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, device_in(target));
  BATON_TRY_ASSIGN(const Ref<hal::BufferView> view, view_in(source));
  BATON_TRY_ASSIGN(Ref<hal::Buffer> peer, device->allocator().import_peer(*view->buffer()));
  return hal::BufferView::make(std::move(peer), view->shape(), view->element_type(), view->encoding());
}

// DLPack's structs under their own names are ours of hal/dlpack.h.
template <typename Tensor>
Result<Ref<hal::BufferView>> import_tensor(const baton_device* target, void* tensor, int64_t stream) {
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, device_in(target));
  if (!tensor) return failure(StatusCode::kInvalidArgument, "A DLPack tensor is null.");
  return hal::import_dlpack(*device, static_cast<Tensor*>(tensor), stream);
}

template <typename Tensor, typename Export>
baton_status* export_tensor(const baton_device* owner, const baton_buffer_view* source, const baton_fence* ready,
                            int64_t stream, const Export& to_tensor, Tensor** out) {
  if (baton_status* status = missing_room(out)) return status;
  const auto give_out = [&]() -> Status {
    BATON_TRY_ASSIGN(const Ref<hal::Device> device, device_in(owner));
    BATON_TRY_ASSIGN(const Ref<hal::BufferView> view, view_in(source));
    hal::DlpackConsumer consumer{.stream = stream};
    const hal::Fence* fence = baton::modules::unwrap<hal::Fence>(as_object(ready));
    if (ready && !fence) return failure(StatusCode::kInvalidArgument, "What a tensor is ready at is no fence.");
    if (fence) consumer.ready = fence->points();
    BATON_TRY_ASSIGN(auto* tensor, to_tensor(*device, view, consumer));
    *out = reinterpret_cast<Tensor*>(tensor);
    return {};
  };
  return to_door(give_out());
}

}  // namespace

extern "C" {

baton_status* baton_device_open(const char* uri, baton_device** out_device) {
  if (baton_status* status = missing_room(out_device)) return status;
  if (!uri) return missing("name of a device");
  return give(open(uri), out_device);
}

baton_status* baton_module_create_hal(baton_device* const* devices, uint64_t device_count, baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  if (lacks(devices, device_count)) return missing("array of devices");
  return give_module(make_hal({devices, static_cast<size_t>(device_count)}), out_module);
}

baton_status* baton_ranks_join(uint32_t rank, uint32_t rank_count, const char* store, int64_t timeout_ns) {
  return to_door(hal::join_ranks({rank, rank_count, store ? store : "", timeout_ns}));
}

baton_status* baton_module_create_collective(baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  return give_module(make_collective(), out_module);
}

baton_status* baton_buffer_view_upload(baton_device* device, uint32_t element_type, const int64_t* shape, uint64_t rank,
                                       const void* data, uint64_t size, baton_buffer_view** out_view) {
  if (baton_status* status = missing_room(out_view)) return status;
  if (lacks(shape, rank)) return missing("shape of a tensor");
  if (lacks(data, size)) return missing("data of a tensor");
  if (rank > UINT16_MAX) {  // Before that many sizes are read.
    return to_door(failure(StatusCode::kInvalidArgument, "A shape has ", rank, " dimensions; at most ", UINT16_MAX,
                           " are possible."));
  }
  const TensorSource tensor = {element_type,
                               {shape, static_cast<size_t>(rank)},
                               {static_cast<const std::byte*>(data), static_cast<size_t>(size)}};
  return give(upload(device, tensor), out_view);
}

baton_status* baton_buffer_view_download(const baton_buffer_view* view, void* target, uint64_t size) {
  if (lacks(target, size)) return missing("memory for a tensor");
  return to_door(download(view, {static_cast<std::byte*>(target), static_cast<size_t>(size)}));
}

baton_status* baton_buffer_view_import_peer(baton_device* device, const baton_buffer_view* view,
                                            baton_buffer_view** out_view) {
  if (baton_status* status = missing_room(out_view)) return status;
  return give(import_peer(device, view), out_view);
}

baton_status* baton_buffer_view_import_dlpack(baton_device* device, DLManagedTensorVersioned* tensor, int64_t stream,
                                              baton_buffer_view** out_view) {
  if (baton_status* status = missing_room(out_view)) return status;
  return give(import_tensor<baton_dl_managed_tensor>(device, tensor, stream), out_view);
}

baton_status* baton_buffer_view_import_dlpack_legacy(baton_device* device, DLManagedTensor* tensor, int64_t stream,
                                                     baton_buffer_view** out_view) {
  if (baton_status* status = missing_room(out_view)) return status;
  return give(import_tensor<baton_dl_legacy_tensor>(device, tensor, stream), out_view);
}

baton_status* baton_buffer_view_export_dlpack(baton_device* device, const baton_buffer_view* view,
                                              const baton_fence* ready, int64_t stream,
                                              DLManagedTensorVersioned** out_tensor) {
  return export_tensor(device, view, ready, stream, hal::export_dlpack, out_tensor);
}

baton_status* baton_buffer_view_export_dlpack_legacy(baton_device* device, const baton_buffer_view* view,
                                                     const baton_fence* ready, int64_t stream,
                                                     DLManagedTensor** out_tensor) {
  return export_tensor(device, view, ready, stream, hal::export_legacy_dlpack, out_tensor);
}

void baton_name_kernel_crashes(void) { hal::drivers::local::name_kernel_crashes(); }

}  // extern "C"
