/* What a user brings: functions that kernels call, compiled to an object and to bitcode. */
#include <stddef.h>
#include <stdint.h>

void user_mul(const float* a, size_t a_at, const float* b, size_t b_at, float* r, size_t r_at, size_t n, size_t first) {
  const size_t end = first + 64 < n ? first + 64 : n;
  for (size_t i = first; i < end; ++i) r[r_at + i] = a[a_at + i] * b[b_at + i];
#ifdef STATEFUL
  static int calls;
  ++calls;
#endif
}

float user_mix(float x, int8_t small, _Bool flag) { return flag ? x * (float)small : x; }

/* A memref in full: allocated, aligned, offset, sizes, strides. */
void user_fill(float* allocated, float* aligned, size_t offset, size_t rows, size_t columns, size_t row_stride,
               size_t column_stride, float value) {
  (void)allocated;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) aligned[offset + i * row_stride + j * column_stride] = value + (float)j;
  }
}

#ifdef WANTS_LIBC
int printf(const char*, ...);
void user_print(void) { printf("hello\n"); }
#endif
