#include "hal/drivers/local/executable_library.h"

extern "C" uint32_t extent(const baton_dispatch_state* dispatch) {
  return dispatch->workgroup_count_x * dispatch->workgroup_size_x;
}
