/* y = x * factor + offset, one element a workgroup, as a portable ELF file. */
#include "hal/drivers/local/executable_library.h"

static float number(const uint32_t* word) {
  union {
    uint32_t word;
    float number;
  } bits = {*word};
  return bits.number;
}

static int affine(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                  const baton_workgroup_state* workgroup) {
  (void)environment;
  const float* x = dispatch->bindings[0];
  float* y = dispatch->bindings[1];
  y[workgroup->id_x] = x[workgroup->id_x] * number(dispatch->constants) + number(dispatch->constants + 1);
  return 0;
}

static const baton_kernel kernels[] = {affine};
static const char* const names[] = {"affine"};
static const baton_kernel_attributes attributes[] = {{2, 2, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "affine",
    .kernel_count = 1,
    .kernels = kernels,
    .kernel_names = names,
    .kernel_attributes = attributes,
};

BATON_EXECUTABLE_EXPORT const baton_executable_library* baton_executable_library_query(
    uint32_t max_version, const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
