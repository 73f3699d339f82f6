/* The bench's kernels as C loops. */
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void loop_add(const float* a, const float* b, float* r, size_t n);
void loop_scale(const float* a, float s, float* r, size_t n);
void loop_chain(const float* a, const float* b, float* r, size_t n);
void loop_exp(const float* a, float* r, size_t n);
void loop_row_sums(const float* a, float* r, size_t m, size_t n);

#ifdef __cplusplus
}
#endif
