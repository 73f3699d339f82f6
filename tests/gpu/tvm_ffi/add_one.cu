// The kernel of TVM-FFI's launcher guide, with clang's own names (tools/cmake/cuda_names.h stands for the toolkit's).
extern "C" __attribute__((global)) void add_one(const float* x, float* y, int n) {
  const int index = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (index < n) y[index] = x[index] + 1.0f;
}
