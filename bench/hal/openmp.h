/* OpenMP by gcc and its library, whatever compiles the rest: the peer of fork_and_join.cpp and elementwise.cpp. */
#ifndef BATON_BENCH_HAL_OPENMP_H_
#define BATON_BENCH_HAL_OPENMP_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void openmp_threads(int count);
void openmp_fork_join(int tiles);
void openmp_run_tiles(int tiles, void (*run_tile)(void));
void openmp_square(const float* source, float* target, size_t count);

#ifdef __cplusplus
}
#endif

#endif
