/* The same kernels as a finished library: the table that the runtime asks for, behind the one function it looks up. */
#include "kernels.h"

static const baton_kernel kernels[] = {multiply, scale};
static const char* const names[] = {"multiply", "scale"};
/* Constants, bindings, the size of a workgroup, local memory. */
static const baton_kernel_attributes attributes[] = {{1, 3, 64, 1, 1, 0}, {1, 2, 64, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "static_dispatch",
    .kernel_count = 2,
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
