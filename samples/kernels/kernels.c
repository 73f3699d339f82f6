/* y = factor * x + y, for the CPU: each workgroup does 4 elements. */
#include "hal/drivers/local/executable_library.h"

static int scale_add(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                     const baton_workgroup_state* workgroup) {
  const float* x = dispatch->bindings[0];
  float* y = dispatch->bindings[1];
  float factor;
  __builtin_memcpy(&factor, &dispatch->constants[0], sizeof(factor));
  const uint32_t count = dispatch->constants[1];
  (void)environment;
  for (uint32_t i = 4 * workgroup->id_x; i < 4 * workgroup->id_x + 4 && i < count; ++i) y[i] += factor * x[i];
  return 0;
}

static const baton_kernel kernels[] = {scale_add};
static const char* const names[] = {"scale_add"};
static const baton_kernel_attributes attributes[] = {{2, 2, 4, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "kernels",
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
