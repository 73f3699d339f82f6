#include "tools/support/tensors.hpp"

#include "hal/allocator.hpp"
#include "hal/host_copy.hpp"
#include "modules/hal_module/objects.hpp"

namespace baton::tools {
namespace {

using hal::BufferUsage;

// The alignment that generated kernels and vector instructions want; other data is copied.
constexpr size_t kAlignment = 64;

Result<hal::Device*> device_of(std::span<const Ref<hal::Device>> devices, const hal::Buffer& buffer) {
  for (const Ref<hal::Device>& device : devices) {
    if (&device->allocator() == buffer.allocator()) return device.get();
  }
  return failure(StatusCode::kInvalidArgument, "the tensor lies on a device that was not given");
}

bool can_be_used_in_place(hal::Device& device, const Tensor& tensor) {
  return device.allocator().uses_host_memory() && tensor.owner && !tensor.bytes.empty() &&
         reinterpret_cast<uintptr_t>(tensor.bytes.data()) % kAlignment == 0;
}

Result<Ref<hal::Buffer>> import_tensor(hal::Device& device, const Tensor& tensor) {
  using Owner = std::shared_ptr<const void>;
  auto owner = std::make_unique<Owner>(tensor.owner);
  // Its memory is its own, or a file's that was mapped to be changed in memory only.
  const std::span<std::byte> bytes(const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size());
  const auto release = [](void* data) { delete static_cast<Owner*>(data); };
  BATON_TRY_ASSIGN(Ref<hal::Buffer> buffer,
                   device.allocator().import_host(bytes, BufferUsage::kAll, {release, owner.get()}));
  owner.release();
  return buffer;
}

vm::Object* object_of(auto handle) { return reinterpret_cast<vm::Object*>(handle.detach()); }

}  // namespace

Result<Ref<hal::BufferView>> upload(hal::Device& device, const Tensor& tensor) {
  auto buffer =
      can_be_used_in_place(device, tensor) ? import_tensor(device, tensor) : hal::upload_buffer(device, tensor.bytes);
  if (!buffer) return std::move(buffer).error();
  return hal::BufferView::make(std::move(*buffer), tensor.type.shape, tensor.type.element_type);
}

Result<Tensor> download(std::span<const Ref<hal::Device>> devices, const hal::BufferView& view) {
  BATON_TRY_ASSIGN(hal::Device * device, device_of(devices, *view.buffer()));
  TensorType type{{view.shape().begin(), view.shape().end()}, view.element_type()};
  const auto length = static_cast<size_t>(view.length_bytes());
  if (device->allocator().uses_host_memory() && length > 0) {
    // Buffers that may not be mapped are copied.
    if (auto mapped = view.buffer()->map(hal::Access::kRead, 0, length)) {
      auto mapping = std::make_shared<hal::Mapping>(std::move(*mapped));
      const std::span<const std::byte> bytes = mapping->bytes();
      return Tensor{std::move(type), bytes, std::move(mapping)};
    }
  }
  std::vector<std::byte> bytes(length);
  BATON_TRY(copy_to_host(*device, view.buffer(), bytes));
  return Tensor::of(std::move(type), std::move(bytes));
}

TensorValues::~TensorValues() {
  for (vm::Object* object : inputs_) vm::release_object(object);
}

vm::Object* TensorValues::keep(vm::Object* object) {
  inputs_.push_back(object);
  return object;
}

Result<Ref<hal::BufferView>> TensorValues::make_input(std::string_view text) {
  if (devices_.empty()) {
    return failure(StatusCode::kInvalidArgument, "a tensor needs a device, and no --device= was given");
  }
  BATON_TRY_ASSIGN(const Tensor tensor, files_.load(text));
  return upload(*devices_[0], tensor);
}

Result<vm::Object*> TensorValues::input(std::string_view text) {
  BATON_TRY_ASSIGN(Ref<hal::BufferView> view, make_input(text));
  return keep(object_of(modules::wrap(std::move(view))));
}

Result<vm::Object*> TensorValues::storage(std::string_view text) {
  BATON_TRY_ASSIGN(const Ref<hal::BufferView> view, make_input(text.substr(text.starts_with('&') ? 1 : 0)));
  return keep(object_of(modules::wrap(view->buffer())));
}

Result<std::optional<Tensor>> TensorValues::read(vm::Object* object) const {
  const auto* view = modules::unwrap<hal::BufferView>(reinterpret_cast<baton_object*>(object));
  if (!view) return std::optional<Tensor>();
  BATON_TRY_ASSIGN(Tensor tensor, download(devices_, *view));
  return std::optional(std::move(tensor));
}

Result<std::string> TensorValues::describe(vm::Object* object) const {
  BATON_TRY_ASSIGN(const std::optional<Tensor> tensor, read(object));
  if (!tensor) return std::string();
  return text("hal.buffer_view\n",
              describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes, most_));
}

}  // namespace baton::tools
