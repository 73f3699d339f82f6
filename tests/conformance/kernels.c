#include "tests/conformance/kernels.h"

static int add(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
               const baton_workgroup_state* workgroup) {
  (void)environment;
  const uint32_t* a = dispatch->bindings[0];
  const uint32_t* b = dispatch->bindings[1];
  uint32_t* target = dispatch->bindings[2];
  for (uint32_t i = workgroup->id_x * 64; i < dispatch->constants[0] && i < (workgroup->id_x + 1) * 64; ++i) {
    target[i] = a[i] + b[i];
  }
  return 0;
}

static int scale(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup) {
  (void)environment;
  uint32_t* values = dispatch->bindings[0];
  for (uint32_t i = workgroup->id_x * 64; i < dispatch->constants[0] && i < (workgroup->id_x + 1) * 64; ++i) {
    values[i] *= dispatch->constants[1];
  }
  return 0;
}

static int write_ids(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                     const baton_workgroup_state* workgroup) {
  (void)environment;
  uint32_t* target = dispatch->bindings[0];
  const uint32_t row = workgroup->id_z * dispatch->workgroup_count_y + workgroup->id_y;
  target[row * dispatch->workgroup_count_x + workgroup->id_x] =
      workgroup->id_x + 100 * workgroup->id_y + 10000 * workgroup->id_z;
  return 0;
}

static int local_sum(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                     const baton_workgroup_state* workgroup) {
  (void)environment;
  const uint32_t* source = dispatch->bindings[0];
  uint32_t* target = dispatch->bindings[1];
  uint32_t* scratch = workgroup->local_memory;
  if (workgroup->local_memory_size < 64) return 1;
  for (uint32_t i = 0; i < 16; ++i) scratch[i] = source[workgroup->id_x * 16 + i];
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 16; ++i) sum += scratch[i];
  target[workgroup->id_x] = sum;
  return 0;
}

static int fail(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                const baton_workgroup_state* workgroup) {
  (void)environment;
  (void)dispatch;
  return workgroup->id_x == 1 ? 7 : 0;
}

static const baton_kernel kernels[] = {add, scale, write_ids, local_sum, fail};
static const char* const names[] = {"add", "scale", "write_ids", "local_sum", "fail"};
static const baton_kernel_attributes attributes[] = {
    {1, 3, 64, 1, 1, 0}, {2, 1, 64, 1, 1, 0}, {0, 1, 1, 1, 1, 0}, {0, 2, 16, 1, 1, 64}, {0, 1, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "conformance_kernels",
    .kernel_count = 5,
    .kernels = kernels,
    .kernel_names = names,
    .kernel_attributes = attributes,
};

const baton_executable_library* conformance_kernels_query(uint32_t max_version,
                                                          const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
