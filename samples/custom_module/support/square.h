/* The kernel that the programs of these samples dispatch: target[i] = source[i] * source[i], for i32. */
#ifndef BATON_SAMPLES_CUSTOM_MODULE_SQUARE_H_
#define BATON_SAMPLES_CUSTOM_MODULE_SQUARE_H_

#include "hal/drivers/local/executable_library.h"

#ifdef __cplusplus
extern "C"
#endif
    const baton_executable_library*
    square_library_query(uint32_t max_version, const baton_executable_environment* environment);

#endif
