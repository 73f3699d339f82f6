/* A kernel in C: each workgroup triples one number. */
#include "hal/drivers/local/executable_library.h"

static int triple(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                  const baton_workgroup_state* workgroup) {
  int32_t* numbers = dispatch->bindings[0];
  (void)environment;
  numbers[workgroup->id_x] *= 3;
  return 0;
}

static const baton_kernel kernels[] = {triple};
static const char* const names[] = {"triple"};
static const baton_kernel_attributes attributes[] = {{0, 1, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "triple",
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
