// What samples/cuda/mixed launches beside the libraries, for the contender that is written against the driver. Clang's
// names, so that it compiles without the CUDA toolkit.
#define KERNEL extern "C" __attribute__((global))

static __attribute__((device)) int index() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}

KERNEL void add(const float* a, const float* b, float* sum, int count) {
  const int i = index();
  if (i < count) sum[i] = a[i] + b[i];
}

KERNEL void keep_real(float* data, int count) {
  const int i = index();
  if (i < count && i % 2) data[i] = 0;
}

KERNEL void halve(const float* data, float* halves, int count) {
  const int i = index();
  if (i < count) halves[i] = data[i] * 0.5f + 0.0f;
}
