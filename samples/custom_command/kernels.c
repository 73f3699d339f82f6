/* The dispatch part: y = alpha * x + y, 64 elements a workgroup. Freestanding: no libc, nothing static that is written.
 */
#include "hal/drivers/local/executable_library.h"

static int saxpy(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup) {
  const uint32_t count = dispatch->constants[0];
  const union {
    uint32_t bits;
    float number;
  } alpha = {dispatch->constants[1]};
  const float* x = dispatch->bindings[0];
  float* y = dispatch->bindings[1];
  (void)environment;
  for (uint32_t i = workgroup->id_x * 64; i < count && i < (workgroup->id_x + 1) * 64; ++i) {
    y[i] = alpha.number * x[i] + y[i];
  }
  return 0;
}

static const baton_kernel kernels[] = {saxpy};
static const char* const names[] = {"saxpy"};
static const baton_kernel_attributes attributes[] = {{2, 2, 64, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "blas_kernels",
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
