// A function for programs that import it: what the host brings when a program is loaded.
#include "../kernels/device.cuh"

extern "C" __device__ float clipped(float x, float limit) {
  if (x > limit) return limit;
  return x < -limit ? -limit : x;
}
