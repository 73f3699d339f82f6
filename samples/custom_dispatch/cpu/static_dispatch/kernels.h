/* The kernels of this folder, as the table in library.c and the compiler's own see them. */
#ifndef BATON_SAMPLES_STATIC_DISPATCH_KERNELS_H_
#define BATON_SAMPLES_STATIC_DISPATCH_KERNELS_H_

#include "hal/drivers/local/executable_library.h"

int multiply(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
             const baton_workgroup_state* workgroup);
int scale(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
          const baton_workgroup_state* workgroup);

#endif
