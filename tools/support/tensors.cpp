#include "tools/support/tensors.hpp"

#include "hal/allocator.hpp"
#include "hal/host_copy.hpp"
#include "modules/hal_module/objects.hpp"
#include "tools/support/files.hpp"
#include "tools/support/npy.hpp"

namespace baton::tools {
namespace {

using hal::BufferUsage;
using hal::MemoryKind;

Result<Tensor> load_array(std::string_view source) {
  const size_t member = source.find(".npz:");
  const std::string path(member == source.npos ? source : source.substr(0, member + 4));
  BATON_TRY_ASSIGN(const std::vector<std::byte> file, read_file(path));
  auto tensor = member == source.npos ? parse_npy(file) : parse_npz(file, source.substr(member + 5));
  if (tensor) return tensor;
  return std::move(tensor).error().with_context(text("while reading '", path, "'"));
}

Result<Tensor> load_raw(std::string_view type_text, std::string_view path) {
  BATON_TRY_ASSIGN(TensorType type, parse_tensor_type(type_text));
  BATON_TRY_ASSIGN(std::vector<std::byte> bytes, read_file(std::string(path)));
  if (bytes.size() == type.length_bytes()) return Tensor{std::move(type), std::move(bytes)};
  return failure(StatusCode::kInvalidArgument, "a tensor of ", type_text, " takes ", type.length_bytes(),
                 " bytes, and '", path, "' has ", bytes.size());
}

Result<hal::Device*> device_of(std::span<const Ref<hal::Device>> devices, const hal::Buffer& buffer) {
  for (const Ref<hal::Device>& device : devices) {
    if (&device->allocator() == buffer.allocator()) return device.get();
  }
  return failure(StatusCode::kInvalidArgument, "the tensor lies on a device that was not given");
}

}  // namespace

Result<Tensor> load_tensor(std::string_view input) {
  if (input.starts_with('@')) return load_array(input.substr(1));
  const size_t file = input.find("=@");
  if (file != input.npos) return load_raw(input.substr(0, file), input.substr(file + 2));
  return parse_tensor(input);
}

Result<Ref<hal::BufferView>> upload(hal::Device& device, const Tensor& tensor) {
  const bool direct = device.allocator().uses_host_memory();
  const MemoryKind memory = direct ? MemoryKind::kDeviceLocal | MemoryKind::kHostVisible : MemoryKind::kDeviceLocal;
  constexpr BufferUsage kOnDevice = BufferUsage::kTransfer | BufferUsage::kDispatch | BufferUsage::kIndirectGrid;
  BATON_TRY_ASSIGN(
      Ref<hal::Buffer> buffer,
      device.allocator().allocate(
          {.length = tensor.bytes.size(), .memory = memory, .usage = direct ? BufferUsage::kAll : kOnDevice}));
  BATON_TRY(copy_from_host(device, tensor.bytes, buffer));
  return hal::BufferView::make(std::move(buffer), tensor.type.shape, tensor.type.element_type);
}

Result<std::vector<std::byte>> download(std::span<const Ref<hal::Device>> devices, const hal::BufferView& view) {
  BATON_TRY_ASSIGN(hal::Device * device, device_of(devices, *view.buffer()));
  std::vector<std::byte> bytes(static_cast<size_t>(view.length_bytes()));
  BATON_TRY(copy_to_host(*device, view.buffer(), bytes));
  return bytes;
}

TensorValues::~TensorValues() {
  for (vm::Object* object : inputs_) vm::release_object(object);
}

Result<vm::Object*> TensorValues::input(std::string_view text) {
  if (devices_.empty()) {
    return failure(StatusCode::kInvalidArgument, "a tensor needs a device, and no --device= was given");
  }
  BATON_TRY_ASSIGN(const Tensor tensor, load_tensor(text));
  BATON_TRY_ASSIGN(Ref<hal::BufferView> view, upload(*devices_[0], tensor));
  inputs_.push_back(reinterpret_cast<vm::Object*>(modules::wrap(std::move(view)).detach()));
  return inputs_.back();
}

Result<std::string> TensorValues::describe(vm::Object* object) const {
  const auto* view = modules::unwrap<hal::BufferView>(reinterpret_cast<baton_object*>(object));
  if (!view) return std::string();
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, download(devices_, *view));
  return text("hal.buffer_view\n", describe_tensor(view->shape(), view->element_type(), bytes, most_));
}

}  // namespace baton::tools
