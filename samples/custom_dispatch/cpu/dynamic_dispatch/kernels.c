/* What the host has ready under a name of its own: a finished library of kernels. A program asks for it when it is
 * loaded.
 *
 * Freestanding, so that Baton's own loader takes it; 64 elements a workgroup, the only constant is how many there are.
 */
#include "hal/drivers/local/executable_library.h"

/* product = a * b */
static int multiply(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                    const baton_workgroup_state* workgroup) {
  const float *a = dispatch->bindings[0], *b = dispatch->bindings[1];
  float* product = dispatch->bindings[2];
  const uint32_t count = dispatch->constants[0], begin = workgroup->id_x * 64;
  (void)environment;
  for (uint32_t i = begin; i < count && i < begin + 64; ++i) product[i] = a[i] * b[i];
  return 0;
}

static const baton_kernel kernels[] = {multiply};
static const char* const names[] = {"multiply"};
static const baton_kernel_attributes attributes[] = {{1, 3, 64, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "acme",
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
