/* The same kernel for processors: 64 elements a workgroup. */
#include "hal/drivers/local/executable_library.h"

static int keep_real(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                     const baton_workgroup_state* workgroup) {
  const uint32_t count = dispatch->constants[0];
  float* data = dispatch->bindings[0];
  (void)environment;
  for (uint32_t i = workgroup->id_x * 64; i < count && i < (workgroup->id_x + 1) * 64; ++i) {
    if (i % 2) data[i] = 0;
  }
  return 0;
}

static const baton_kernel kernels[] = {keep_real};
static const char* const names[] = {"keep_real"};
static const baton_kernel_attributes attributes[] = {{1, 1, 64, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "mixed_kernels",
    .kernel_count = 1,
    .kernels = kernels,
    .kernel_names = names,
    .kernel_attributes = attributes,
};

BATON_EXECUTABLE_EXPORT const baton_executable_library* baton_executable_library_query(
    uint32_t max_version, const baton_executable_environment* environment);
const baton_executable_library* baton_executable_library_query(uint32_t max_version,
                                                               const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
