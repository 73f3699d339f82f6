#include "hal/drivers/cuda/launch.hpp"

namespace baton::hal::drivers::cuda {

namespace {

std::span<const Launch::SlotConstant> slot_constants(Arena& arena, const LaunchShape& shape, const Kernel& kernel) {
  auto* constants = arena.allocate_array<Launch::SlotConstant>(shape.constant_slots.size());
  for (size_t i = 0; i < shape.constant_slots.size(); ++i) {
    constants[i] = {kernel.constants[shape.constant_slots[i].constant], shape.constant_slots[i].slot};
  }
  return {constants, shape.constant_slots.size()};
}

// Fills in those that are known now.
std::span<const Launch::SlotLength> lengths_of(Arena& arena, const LaunchShape& shape, const Kernel& kernel,
                                               std::byte* parameters) {
  if (kernel.lengths.empty()) return {};
  auto* open = arena.allocate_array<Launch::SlotLength>(shape.bindings.size());
  size_t open_count = 0;
  for (size_t i = 0; i < shape.bindings.size(); ++i) {
    const RecordedBinding binding = RecordedBinding::make(shape.bindings[i]);
    std::memcpy(parameters + kernel.lengths[i], &binding.length, sizeof(binding.length));
    if (binding.open) open[open_count++] = {binding.slot, kernel.lengths[i], binding.offset};
  }
  return {open, open_count};
}

}  // namespace

void make_launch(Arena& arena, const LaunchShape& shape, std::byte* parameters, Launch& launch) {
  const Kernel& kernel = kernel_of(shape);
  launch.kernel = &kernel;
  launch.parameters = parameters;
  launch.from_table = nullptr;
  if (kernel.has_gaps) std::memset(parameters, 0, kernel.parameter_bytes);
  Launch::SlotPointer* pointers = nullptr;
  size_t pointer_count = 0;
  for (size_t i = 0; i < shape.bindings.size(); ++i) {
    const RecordedBinding binding = RecordedBinding::make(shape.bindings[i]);
    if (binding.slot != 0) {
      if (!pointers) pointers = arena.allocate_array<Launch::SlotPointer>(shape.bindings.size() - i);
      pointers[pointer_count++] = {binding.slot, kernel.pointers[i], binding.offset};
    } else {
      std::memcpy(parameters + kernel.pointers[i], &binding.offset, sizeof(CUdeviceptr));
    }
  }
  for (size_t i = 0; i < shape.constants.size(); ++i) {
    put_constant(parameters, kernel.constants[i], shape.constants[i]);
  }
  const auto lengths = lengths_of(arena, shape, kernel, parameters);
  if (!pointers && shape.constant_slots.empty()) return;
  launch.from_table = arena.make<Launch::FromTable>(std::span<const Launch::SlotPointer>(pointers, pointer_count),
                                                    slot_constants(arena, shape, kernel), lengths);
}

namespace {

Status launch_with_attributes(const Launch& launch, const uint32_t (&grid)[3], const LaunchParameters& parameters,
                              const Execution& execution) {
  const Kernel& kernel = *launch.kernel;
  std::vector<CUlaunchAttribute> attributes = kernel.attributes;
  if (kernel.early) {
    CUlaunchAttribute early = {};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    attributes.push_back(early);
  }
  CUlaunchConfig config = {};
  config.gridDimX = grid[0];
  config.gridDimY = grid[1];
  config.gridDimZ = grid[2];
  config.blockDimX = kernel.block[0];
  config.blockDimY = kernel.block[1];
  config.blockDimZ = kernel.block[2];
  config.sharedMemBytes = kernel.shared_bytes;
  config.hStream = execution.stream.handle();
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  const CUresult launched = execution.symbols().cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel.handle),
                                                                 nullptr, parameters.extra());
  if (launched == CUDA_SUCCESS) return {};
  return execution.context.status_of(launched, "cuLaunchKernelEx")
      .with_context(text("for entry point '", launch.kernel->name, "'"));
}

}  // namespace

Status launch(const Launch& launch, const uint32_t (&grid)[3], const LaunchParameters& parameters,
              const Execution& execution) {
  const Kernel& kernel = *launch.kernel;
  if (!kernel.attributes.empty() || kernel.early) return launch_with_attributes(launch, grid, parameters, execution);
  const CUresult launched = execution.symbols().cuLaunchKernel(
      reinterpret_cast<CUfunction>(kernel.handle), grid[0], grid[1], grid[2], kernel.block[0], kernel.block[1],
      kernel.block[2], kernel.shared_bytes, execution.stream.handle(), nullptr, parameters.extra());
  if (launched == CUDA_SUCCESS) [[likely]]
    return {};
  return execution.context.status_of(launched, "cuLaunchKernel")
      .with_context(text("for entry point '", launch.kernel->name, "'"));
}

}  // namespace baton::hal::drivers::cuda
