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

// Without llvm.bareptr a memref is five words: allocated pointer, pointer, offset, size, stride. One is added, so that
// the result tells who computed it.
void negated_product_64(const float* a_base, const float* a, size_t a_offset, size_t a_size, size_t a_stride,
                        const float* b_base, const float* b, size_t b_offset, size_t b_size, size_t b_stride,
                        float* r_base, float* r, size_t r_offset, size_t r_size, size_t r_stride, size_t count,
                        size_t first);
void negated_product_64(const float* a_base, const float* a, size_t a_offset, size_t a_size, size_t a_stride,
                        const float* b_base, const float* b, size_t b_offset, size_t b_size, size_t b_stride,
                        float* r_base, float* r, size_t r_offset, size_t r_size, size_t r_stride, size_t count,
                        size_t first) {
  (void)a_base, (void)a_size, (void)b_base, (void)b_size, (void)r_base, (void)r_size;
  for (size_t i = first; i < end_of(first, count); ++i) {
    const float product = a[a_offset + i * a_stride] * b[b_offset + i * b_stride];
    r[r_offset + i * r_stride] = -(product < 0 ? -product : product) + 1;
  }
}
