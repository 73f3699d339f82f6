/* The kernels that the conformance suite dispatches, as a CPU library. Other backends bring the same in their language.
 *
 *   0 add        constants {n}, bindings {a, b, target}: target[i] = a[i] + b[i], i < n; 64 elements a workgroup; u32
 *   1 scale      constants {n, factor}, bindings {values}: values[i] *= factor; 64 elements a workgroup; u32
 *   2 write_ids  bindings {target}: one u32 a workgroup: x + 100 y + 10000 z
 *   3 local_sum  bindings {source, target}: target[workgroup] = sum of 16 u32 of the source, through local memory
 *   4 fail       bindings {any}: returns 7 in workgroup x == 1 */
#ifndef BATON_TESTS_CONFORMANCE_KERNELS_H_
#define BATON_TESTS_CONFORMANCE_KERNELS_H_

#include "hal/drivers/local/executable_library.h"

#ifdef __cplusplus
extern "C"
#endif
    const baton_executable_library*
    conformance_kernels_query(uint32_t max_version, const baton_executable_environment* environment);

#endif
