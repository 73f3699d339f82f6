// A function for kernels that the compiler generates: every thread of the workgroup calls it, and takes its own
// elements. It is compiled by clang to bitcode of NVPTX, of which Baton's code for Vulkan takes who a thread is
// (tid, ntid, ctaid, nctaid) and barriers.
#include <stddef.h>

void multiply_slice(const float* restrict a, size_t a_offset, const float* restrict b, size_t b_offset,
                    float* restrict product, size_t product_offset, size_t size) {
  for (size_t i = (size_t)__nvvm_read_ptx_sreg_tid_x(); i < size; i += (size_t)__nvvm_read_ptx_sreg_ntid_x()) {
    product[product_offset + i] = a[a_offset + i] * b[b_offset + i];
  }
}
