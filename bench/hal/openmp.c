#include "bench/hal/openmp.h"

#include <omp.h>

void openmp_threads(int count) { omp_set_num_threads(count); }

void openmp_fork_join(int tiles) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < tiles; ++i) __asm__ volatile("" ::: "memory");
}

void openmp_run_tiles(int tiles, void (*run_tile)(void)) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < tiles; ++i) run_tile();
}

void openmp_square(const float* source, float* target, size_t count) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; ++i) target[i] = source[i] * source[i] + 1.0f;
}
