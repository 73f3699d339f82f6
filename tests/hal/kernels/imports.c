/* One kernel that calls a function it imports, and says whether an optional one is there. */
#include "hal/drivers/local/executable_library.h"

struct multiply_params {
  uint32_t result;
  uint32_t a, b;
};

static int multiply(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                    const baton_workgroup_state* workgroup) {
  (void)workgroup;
  uint32_t* values = dispatch->bindings[0];
  const int has_optional = environment->import_functions[0] != NULL;
  struct multiply_params params = {0, values[0], values[1]};
  const int result =
      environment->import_thunk(environment->import_functions[1], &params, environment->import_contexts[1], NULL);
  if (result != 0) return result;
  values[2] = params.result;
  values[3] = (uint32_t)has_optional;
  values[4] = environment->constants[0];
  return 0;
}

static const char* const imports[] = {"?acme.fast", "acme.multiply"};
static const baton_kernel kernels[] = {multiply};
static const char* const names[] = {"multiply"};
static const baton_kernel_attributes attributes[] = {{0, 1, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "imports",
    .constant_count = 1,
    .import_count = 2,
    .kernel_count = 1,
    .imports = imports,
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
