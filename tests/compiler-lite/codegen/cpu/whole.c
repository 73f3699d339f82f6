// A kernel that the user wrote whole, as an object or bitcode. It adds a constant of the dispatch and one of the
// executable.
#include "hal/drivers/local/executable_library.h"

int add_constant(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup);
int add_constant(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup) {
  int32_t* values = dispatch->bindings[0];
  values[workgroup->id_x] += (int32_t)(dispatch->constants[0] + environment->constants[0]);
  return 0;
}
