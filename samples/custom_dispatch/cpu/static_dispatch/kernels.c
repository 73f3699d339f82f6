/* Whole kernels: the runtime calls these functions once for each workgroup, with what the program's dispatch passes.
 *
 * Freestanding: no libc, nothing static that is written. A workgroup works on 64 elements; the only constant is how
 * many there are. Bindings come in the order of the program's layout, with their offsets applied. */
#include "kernels.h"

static uint32_t begin_of(const baton_workgroup_state* workgroup) { return workgroup->id_x * 64; }
static uint32_t end_of(const baton_dispatch_state* dispatch, const baton_workgroup_state* workgroup) {
  const uint32_t count = dispatch->constants[0], end = begin_of(workgroup) + 64;
  return end < count ? end : count;
}

/* product = a * b */
int multiply(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
             const baton_workgroup_state* workgroup) {
  const float *a = dispatch->bindings[0], *b = dispatch->bindings[1];
  float* product = dispatch->bindings[2];
  (void)environment;
  for (uint32_t i = begin_of(workgroup); i < end_of(dispatch, workgroup); ++i) product[i] = a[i] * b[i];
  return 0;
}

/* data *= by */
int scale(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
          const baton_workgroup_state* workgroup) {
  const float* by = dispatch->bindings[0];
  float* data = dispatch->bindings[1];
  (void)environment;
  for (uint32_t i = begin_of(workgroup); i < end_of(dispatch, workgroup); ++i) data[i] *= by[i];
  return 0;
}
