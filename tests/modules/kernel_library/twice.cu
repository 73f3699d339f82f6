// As LTO-IR, a function for a kernel that is linked with it.
extern "C" __device__ int twice(int x) { return 2 * x; }
