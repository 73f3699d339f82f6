#include "square.h"

static int square(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                  const baton_workgroup_state* workgroup) {
  const int32_t* source = dispatch->bindings[0];
  int32_t* target = dispatch->bindings[1];
  (void)environment;
  target[workgroup->id_x] = source[workgroup->id_x] * source[workgroup->id_x];
  return 0;
}

static const baton_kernel kernels[] = {square};
static const char* const names[] = {"square"};
static const baton_kernel_attributes attributes[] = {{0, 2, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "square",
    .kernel_count = 1,
    .kernels = kernels,
    .kernel_names = names,
    .kernel_attributes = attributes,
};

const baton_executable_library* square_library_query(uint32_t max_version,
                                                     const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
