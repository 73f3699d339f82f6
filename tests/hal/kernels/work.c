/* Two kernels that take as long as they are told when they are built: what tests of measuring measure. Where there is a
 * clock that they can take the time from (tests/golden/native/clock.c) a round is a nanosecond of it, else it is work.
 */
#include "hal/drivers/local/executable_library.h"

#ifndef WORK_ROUNDS
#define WORK_ROUNDS 3000
#endif
#define OTHER_ROUNDS 3000

static int mix(const baton_executable_environment* environment, const baton_dispatch_state* dispatch, uint32_t rounds) {
  if (environment->import_functions[0]) {
    uint64_t time_ns = rounds;
    return environment->import_thunk(environment->import_functions[0], &time_ns, environment->import_contexts[0], NULL);
  }
  uint32_t* target = dispatch->bindings[0];
  uint32_t value = target[0];
  for (uint32_t i = 0; i < rounds; ++i) value = (value << 7 | value >> 25) + 0x9e3779b9u; /* No compiler shortens it. */
  target[0] = value;
  return 0;
}

static int work(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                const baton_workgroup_state* workgroup) {
  (void)workgroup;
  return mix(environment, dispatch, WORK_ROUNDS);
}
static int other(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup) {
  (void)workgroup;
  return mix(environment, dispatch, OTHER_ROUNDS);
}

static const char* const imports[] = {"?clock.take"};
static const baton_kernel kernels[] = {work, other};
static const char* const names[] = {"work", "other"};
static const baton_kernel_attributes attributes[] = {{0, 1, 1, 1, 1, 0}, {0, 1, 1, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "work",
    .import_count = 1,
    .kernel_count = 2,
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
