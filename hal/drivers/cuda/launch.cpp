#include "hal/drivers/cuda/launch.hpp"

namespace baton::hal::drivers::cuda {

void make_launch(Arena& arena, const LaunchShape& shape, Launch& launch) {
  const auto& executable = static_cast<const Executable&>(*shape.executable);
  const Kernel& kernel = executable.kernel(shape.entry_point);
  launch.kernel = &kernel;
  launch.name = &executable.entry_points()[shape.entry_point].name;
  launch.parameters = static_cast<std::byte*>(arena.allocate(kernel.parameter_bytes, 16));
  std::memset(launch.parameters, 0, kernel.parameter_bytes);
  Launch::SlotPointer* pointers = nullptr;
  size_t pointer_count = 0;
  for (size_t i = 0; i < shape.bindings.size(); ++i) {
    const RecordedBinding binding = RecordedBinding::make(shape.bindings[i]);
    if (binding.slot != 0) {
      if (!pointers) pointers = arena.allocate_array<Launch::SlotPointer>(shape.bindings.size() - i);
      pointers[pointer_count++] = {binding.slot, kernel.pointers[i], binding.offset};
    } else {
      std::memcpy(launch.parameters + kernel.pointers[i], &binding.offset, sizeof(CUdeviceptr));
    }
  }
  launch.slot_pointers = {pointers, pointer_count};
  for (size_t i = 0; i < shape.constants.size(); ++i) {
    put_constant(launch.parameters, kernel.constants[i], shape.constants[i]);
  }
  launch.slot_constants = {};
  if (shape.constant_slots.empty()) return;
  auto* constants = arena.allocate_array<Launch::SlotConstant>(shape.constant_slots.size());
  for (size_t i = 0; i < shape.constant_slots.size(); ++i) {
    constants[i] = {kernel.constants[shape.constant_slots[i].constant], shape.constant_slots[i].slot};
  }
  launch.slot_constants = {constants, shape.constant_slots.size()};
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
      .with_context(text("for entry point '", *launch.name, "'"));
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
      .with_context(text("for entry point '", *launch.name, "'"));
}

}  // namespace baton::hal::drivers::cuda
