#include "bench/compiler/loops.h"

#include <math.h>

void loop_add(const float* restrict a, const float* restrict b, float* restrict r, size_t n) {
  for (size_t i = 0; i < n; ++i) r[i] = a[i] + b[i];
}

void loop_scale(const float* restrict a, float s, float* restrict r, size_t n) {
  for (size_t i = 0; i < n; ++i) r[i] = a[i] * s;
}

void loop_chain(const float* restrict a, const float* restrict b, float* restrict r, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float sum = a[i] + b[i], part = fabsf(sum * a[i] - b[i]) + sum, last = a[i] - part * b[i];
    r[i] = last * last + sum;
  }
}

void loop_exp(const float* restrict a, float* restrict r, size_t n) {
  for (size_t i = 0; i < n; ++i) r[i] = expf(a[i]);
}

void loop_row_sums(const float* restrict a, float* restrict r, size_t m, size_t n) {
  for (size_t i = 0; i < m; ++i) {
    float sum = 0.0f;
    for (size_t j = 0; j < n; ++j) sum += a[i * n + j];
    r[i] = sum;
  }
}
