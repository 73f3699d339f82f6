#include "modules/hal_module/constant_buffer.hpp"

#include "hal/host_copy.hpp"

namespace baton::modules {
namespace {

// Mapped for reading: a module on the host may ask for the elements of a tensor, whichever device it is on.
constexpr hal::BufferUsage kConstantUsage = hal::BufferUsage::kTransferSource | hal::BufferUsage::kDispatchRead |
                                            hal::BufferUsage::kIndirectGrid | hal::BufferUsage::kMapping |
                                            hal::BufferUsage::kConstant;

Result<Ref<hal::Buffer>> upload(hal::Device& device, std::span<const std::byte> bytes) {
  BATON_TRY_ASSIGN(Ref<hal::Buffer> target,
                   device.allocator().allocate({.length = bytes.size(),
                                                .memory = hal::MemoryKind::kDeviceLocal | hal::MemoryKind::kHostVisible,
                                                .usage = kConstantUsage | hal::BufferUsage::kTransferTarget}));
  BATON_TRY(copy_from_host(device, bytes, target));
  return target;
}

}  // namespace

Result<Ref<hal::Buffer>> make_constant_buffer(hal::Device& device, std::span<const std::byte> bytes,
                                              hal::ImportRelease release) {
  const bool in_place = device.allocator().uses_host_memory();
  auto buffer = in_place ? device.allocator().import_host({const_cast<std::byte*>(bytes.data()), bytes.size()},
                                                          kConstantUsage, release)
                         : upload(device, bytes);
  if (release.release && !(in_place && buffer)) release.release(release.data);
  return buffer;
}

}  // namespace baton::modules
