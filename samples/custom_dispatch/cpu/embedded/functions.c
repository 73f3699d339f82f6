// What the programs of this folder call from their kernels: freestanding C, linked into the generated code.
//
// A memref arrives as a pointer and an offset in elements (llvm.bareptr); `first` is the first element that this
// workgroup works on, and each works on 64.
#include <stddef.h>

static size_t end_of(size_t first, size_t count) { return first + 64 < count ? first + 64 : count; }

void multiply_64(const float* a, size_t a_offset, const float* b, size_t b_offset, float* product,
                 size_t product_offset, size_t count, size_t first);
void multiply_64(const float* a, size_t a_offset, const float* b, size_t b_offset, float* product,
                 size_t product_offset, size_t count, size_t first) {
  for (size_t i = first; i < end_of(first, count); ++i) product[product_offset + i] = a[a_offset + i] * b[b_offset + i];
}

void scale_64(const float* by, size_t by_offset, float* data, size_t data_offset, size_t count, size_t first);
void scale_64(const float* by, size_t by_offset, float* data, size_t data_offset, size_t count, size_t first) {
  for (size_t i = first; i < end_of(first, count); ++i) data[data_offset + i] *= by[by_offset + i];
}
