#include "hal/drivers/cuda/primary_context.hpp"

#include "hal/drivers/cuda/work_listener.hpp"

namespace baton::hal::drivers::cuda {

std::string DeviceFacts::uuid_text() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string uuid_digits = "GPU-";
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid_digits += '-';
    uuid_digits += digits[uuid[i] >> 4];
    uuid_digits += digits[uuid[i] & 15];
  }
  return uuid_digits;
}

Result<DeviceFacts> ask_facts(const Symbols& symbols, CUdevice device) {
  DeviceFacts facts;
  char name[256] = "";
  BATON_CUDA_TRY(symbols, cuDeviceGetName, name, sizeof(name), device);
  facts.name = name;
  CUuuid uuid;
  BATON_CUDA_TRY(symbols, cuDeviceGetUuid, &uuid, device);
  for (size_t i = 0; i < facts.uuid.size(); ++i) facts.uuid[i] = static_cast<uint8_t>(uuid.bytes[i]);
  size_t memory_bytes = 0;
  BATON_CUDA_TRY(symbols, cuDeviceTotalMem, &memory_bytes, device);
  facts.memory_bytes = memory_bytes;
  BATON_CUDA_TRY(symbols, cuDriverGetVersion, &facts.driver_version);
  int pools = 0, cooperative = 0, clusters = 0;
  const struct {
    CUdevice_attribute attribute;
    int* target;
  } questions[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &facts.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &facts.minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &facts.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &facts.threads_per_block_max},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &facts.block_max[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &facts.block_max[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &facts.block_max[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &facts.grid_max[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &facts.grid_max[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &facts.grid_max[2]},
      // Not attribute 8, which is the default limit (48 KiB).
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &facts.shared_bytes_max},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &facts.subgroup_size},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &facts.l2_bytes},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &facts.clock_khz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &facts.memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &facts.memory_bus_bits},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &pools},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &cooperative},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &clusters},
  };
  for (const auto& question : questions) {
    BATON_CUDA_TRY(symbols, cuDeviceGetAttribute, question.target, question.attribute, device);
  }
  facts.memory_pools = pools != 0;
  facts.cooperative = cooperative != 0;
  facts.clusters = clusters != 0;
  return facts;
}

// Both edges of the clock carry data.
int64_t DeviceFacts::peak_bytes_per_second() const {
  return int64_t{2} * memory_clock_khz * 1000 * (memory_bus_bits / 8);
}

int64_t DeviceFacts::peak_f32_flops_per_second() const {
  // Units for f32 of a multiprocessor, by "Arithmetic Instructions" of the CUDA C++ programming guide.
  struct Row {
    int arch, units;
  };
  constexpr Row kRows[] = {{50, 128},  {52, 128},  {53, 128},  {60, 64},   {61, 128}, {62, 128}, {70, 64},
                           {72, 64},   {75, 64},   {80, 64},   {86, 128},  {87, 128}, {89, 128}, {90, 128},
                           {100, 128}, {103, 128}, {110, 128}, {120, 128}, {121, 128}};
  for (const Row& row : kRows) {
    if (row.arch == arch()) return int64_t{2} * row.units * multiprocessors * clock_khz * 1000;
  }
  return 0;
}

Result<Ref<PrimaryContext>> PrimaryContext::retain_device(std::shared_ptr<const Symbols> symbols, int ordinal) {
  CUdevice device = 0;
  BATON_CUDA_TRY(*symbols, cuDeviceGet, &device, ordinal);
  BATON_TRY_ASSIGN(DeviceFacts facts, ask_facts(*symbols, device));
  if (!facts.memory_pools) {
    return failure(StatusCode::kUnavailable, "CUDA device ", ordinal, " (", facts.name,
                   ") has no stream-ordered memory pools, which Baton needs.");
  }
  CUcontext handle = nullptr;
  const CUresult retained = symbols->cuDevicePrimaryCtxRetain(&handle, device);
  if (loses_device(retained)) {
    return failure(StatusCode::kDataLoss, "CUDA device ", ordinal, " (", facts.name,
                   ") was lost earlier in this process, and CUDA gives it back only to another one: ",
                   result_text(*symbols, retained), ".");
  }
  if (retained != CUDA_SUCCESS) return cuda_failure(*symbols, retained, "cuDevicePrimaryCtxRetain");
  return make_ref<PrimaryContext>(std::move(symbols), device, handle, std::move(facts));
}

PrimaryContext::~PrimaryContext() {
  if (work_listener_) {
    const ContextScope scope = enter();
    work_listener_->context_ends();
  }
  symbols_->cuDevicePrimaryCtxRelease(device_);
}

Status PrimaryContext::check() const { return lost() ? loss_.clone() : Status(); }

Status PrimaryContext::status_of(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return {};
  Status status = cuda_failure(*symbols_, result, call);
  if (!loses_device(result)) return status;
  std::lock_guard lock(mutex_);
  if (!lost()) {
    loss_ = failure(StatusCode::kDataLoss, "The CUDA device (", facts_.name,
                    ") is lost: ", result_text(*symbols_, result), "; ", call, " said so.");
    lost_.store(true, std::memory_order_release);
  }
  return loss_.clone();
}

}  // namespace baton::hal::drivers::cuda
