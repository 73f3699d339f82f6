#include "hal/drivers/cuda/command_buffer.hpp"

namespace baton::hal::drivers::cuda {

std::span<const RecordedBinding> CommandBuffer::copy_bindings(std::span<const Binding> bindings) {
  RecordedBinding* copies = arena().allocate_array<RecordedBinding>(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) copies[i] = RecordedBinding::make(bindings[i]);
  return {copies, bindings.size()};
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
