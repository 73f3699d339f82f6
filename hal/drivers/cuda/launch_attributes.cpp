// What an entry point wants of its launches (hal::LaunchAttributes), checked against the device and the code when the
// executable is loaded, and laid out as launches and kernel nodes take it.

#include <algorithm>

#include "hal/drivers/cuda/executable.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// What every device with clusters takes; more must be allowed, kernel by kernel.
constexpr uint32_t kPortableCluster = 8;

std::string cluster_text(const LaunchAttributes& launch) {
  return text(launch.cluster_size[0], " x ", launch.cluster_size[1], " x ", launch.cluster_size[2]);
}

}  // namespace

// Code may have its cluster written into it (.reqnctapercluster); then the program may only say the same.
Status Executable::read_cluster(Kernel& kernel, EntryPoint& entry) const {
  constexpr CUfunction_attribute kAxes[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                            CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                            CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
  LaunchAttributes of_code;
  for (int axis = 0; axis < 3; ++axis) {
    int size = 0;
    BATON_CUDA_TRY(context_->symbols(), cuKernelGetAttribute, &size, kAxes[axis], kernel.handle, context_->device());
    of_code.cluster_size[axis] = static_cast<uint32_t>(size);
  }
  uint32_t(&asked)[3] = entry.launch.cluster_size;
  const bool says = asked[0] || asked[1] || asked[2];
  for (uint32_t& size : asked) size = says && size == 0 ? 1 : size;
  if (!of_code.has_cluster()) return {};
  for (uint32_t& size : of_code.cluster_size) size = std::max(size, 1u);
  if (says && !std::equal(std::begin(asked), std::end(asked), of_code.cluster_size)) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' is compiled for clusters of ",
                   cluster_text(of_code), " workgroups; the program asks for ", cluster_text(entry.launch), ".");
  }
  std::copy(std::begin(of_code.cluster_size), std::end(of_code.cluster_size), asked);
  return {};
}

Status Executable::set_cluster(Kernel& kernel, const EntryPoint& entry) const {
  const LaunchAttributes& launch = entry.launch;
  if (!launch.has_cluster()) return {};
  const Symbols& symbols = context_->symbols();
  const uint64_t workgroups = uint64_t{launch.cluster_size[0]} * launch.cluster_size[1] * launch.cluster_size[2];
  if (!context_->facts().clusters) {
    return failure(StatusCode::kUnimplemented, "Kernel '", entry.name, "' runs in clusters of ", cluster_text(launch),
                   " workgroups; the device (sm_", context_->facts().arch(), ") has no clusters.");
  }
  if (workgroups > kPortableCluster) {
    BATON_CUDA_TRY(symbols, cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel.handle,
                   context_->device());
  }
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {launch.cluster_size[0], launch.cluster_size[1], launch.cluster_size[2]};
  CUlaunchConfig config = {};
  config.gridDimX = launch.cluster_size[0];
  config.gridDimY = launch.cluster_size[1];
  config.gridDimZ = launch.cluster_size[2];
  config.blockDimX = kernel.block[0];
  config.blockDimY = kernel.block[1];
  config.blockDimZ = kernel.block[2];
  config.sharedMemBytes = kernel.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  const CUresult asked =
      symbols.cuOccupancyMaxActiveClusters(&clusters, reinterpret_cast<CUfunction>(kernel.handle), &config);
  if (asked != CUDA_SUCCESS || clusters == 0) {
    return failure(StatusCode::kResourceExhausted, "Kernel '", entry.name, "' runs in clusters of ",
                   cluster_text(launch), " workgroups (", workgroups, ") with ", kernel.shared_bytes,
                   " bytes of shared memory each; the device holds none of that size.");
  }
  kernel.attributes.push_back(attribute);
  return {};
}

Status Executable::set_cooperative(Kernel& kernel, EntryPoint& entry) const {
  if (!entry.launch.cooperative) return {};
  const DeviceFacts& facts = context_->facts();
  if (!facts.cooperative) {
    return failure(StatusCode::kUnimplemented, "Kernel '", entry.name,
                   "' is cooperative; the device has no cooperative launches.");
  }
  const uint64_t threads = uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
  int blocks = 0;
  BATON_CUDA_TRY(context_->symbols(), cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                 reinterpret_cast<CUfunction>(kernel.handle), static_cast<int>(threads), kernel.shared_bytes);
  entry.workgroups_max = static_cast<uint64_t>(blocks) * static_cast<uint64_t>(facts.multiprocessors);
  if (entry.workgroups_max == 0) {
    return failure(StatusCode::kResourceExhausted, "Kernel '", entry.name, "' is cooperative; of its workgroups of ",
                   threads, " threads and ", kernel.shared_bytes, " bytes of shared memory the device holds none.");
  }
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  kernel.attributes.push_back(attribute);
  kernel.cooperative = true;
  return {};
}

// CUDA's greatest priority is its smallest number.
Status Executable::set_priority(Kernel& kernel, const EntryPoint& entry) const {
  if (entry.launch.priority == 0) return {};
  int least = 0, greatest = 0;
  BATON_CUDA_TRY(context_->symbols(), cuCtxGetStreamPriorityRange, &least, &greatest);
  if (entry.launch.priority < -least || entry.launch.priority > -greatest) {
    return failure(StatusCode::kOutOfRange, "Kernel '", entry.name, "' asks for priority ", entry.launch.priority,
                   "; the device has ", -least, " to ", -greatest, ".");
  }
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = -entry.launch.priority;
  kernel.attributes.push_back(attribute);
  return {};
}

Status Executable::set_carveout(const Kernel& kernel, const EntryPoint& entry) const {
  if (!entry.launch.local_memory_carveout_percent) return {};
  const uint32_t percent = *entry.launch.local_memory_carveout_percent;
  if (percent > 100) {
    return failure(StatusCode::kOutOfRange, "Kernel '", entry.name, "' asks for ", percent,
                   " percent of the fast memory as shared memory; there are 0 to 100.");
  }
  BATON_CUDA_TRY(context_->symbols(), cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                 static_cast<int>(percent), kernel.handle, context_->device());
  return {};
}

Status Executable::check_subgroup(const EntryPoint& entry) const {
  const auto threads = static_cast<uint32_t>(context_->facts().subgroup_size);
  if (entry.launch.subgroup_size == 0 || entry.launch.subgroup_size == threads) return {};
  return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' is written for subgroups of ",
                 entry.launch.subgroup_size, " threads; the device has ", threads, ".");
}

Status Executable::set_attributes(Kernel& kernel, EntryPoint& entry) const {
  BATON_TRY(check_subgroup(entry));
  BATON_TRY(read_cluster(kernel, entry));
  BATON_TRY(set_cluster(kernel, entry));
  BATON_TRY(set_cooperative(kernel, entry));
  BATON_TRY(set_priority(kernel, entry));
  BATON_TRY(set_carveout(kernel, entry));
  kernel.early = entry.launch.early && context_->facts().major >= 9;  // Older devices begin in order.
  return {};
}

}  // namespace baton::hal::drivers::cuda
