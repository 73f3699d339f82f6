#include "hal/drivers/local/executable_library.h"
#include "radius.h"

uint32_t extent(const baton_dispatch_state* dispatch);

static int average(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                   const baton_workgroup_state* workgroup) {
  const float* x = dispatch->bindings[0];
  float sum = 0;
  (void)environment;
  (void)workgroup;
  for (uint32_t i = RADIUS; i < extent(dispatch); ++i) sum += x[i];
  *(float*)dispatch->bindings[1] = sum;
  return 0;
}

static const baton_kernel kernels[] = {average};
static const char* const names[] = {"average"};
static const baton_executable_library library = {.struct_size = sizeof(baton_executable_library),
                                                 .version = BATON_EXECUTABLE_LIBRARY_VERSION,
                                                 .name = "filters",
                                                 .kernel_count = 1,
                                                 .kernels = kernels,
                                                 .kernel_names = names};

BATON_EXECUTABLE_EXPORT const baton_executable_library* baton_executable_library_query(
    uint32_t max_version, const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
