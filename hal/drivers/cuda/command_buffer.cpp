#include "hal/drivers/cuda/command_buffer.hpp"

#include "hal/drivers/cuda/device.hpp"

namespace baton::hal::drivers::cuda {

std::span<const RecordedBinding> CommandBuffer::copy_bindings(std::span<const Binding> bindings) {
  RecordedBinding* copies = arena().allocate_array<RecordedBinding>(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) copies[i] = RecordedBinding::make(bindings[i]);
  return {copies, bindings.size()};
}

Status CommandBuffer::watch_accesses(const Launch& launch, const LaunchShape& shape) {
  const auto& executable = static_cast<const Executable&>(*shape.executable);
  if (!executable.checks_accesses()) return {};
  if (!access_watch_) access_watch_ = make_ref<AccessWatch>(static_cast<Device&>(recording_->device()).memory());
  BATON_TRY_ASSIGN(const CUdeviceptr place, access_watch_->add(executable, shape.entry_point));
  std::memcpy(launch.parameters + launch.kernel->failed_access, &place, sizeof(place));
  return {};
}

Result<Ref<hal::Recording>> CommandBuffer::finish() {
  if (access_watch_) {
    barrier_ = true;
    BATON_TRY(host_call({.function = access_watch_.get()}));
  }
  return Ref<hal::Recording>(std::move(recording_));
}

void CommandBuffer::note_new_kernel(const std::string& name) {
  constexpr size_t kNamesMax = 4;
  std::vector<std::string>& names = recording_->kernel_names_;
  if (names.size() >= kNamesMax) return;
  for (const std::string& known : names) {
    if (known == name) return;
  }
  names.push_back(name);
}

}  // namespace baton::hal::drivers::cuda
