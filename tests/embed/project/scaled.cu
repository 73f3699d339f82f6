#include "radius.h"

extern "C" __device__ float scaled(float x) { return x * RADIUS + threadIdx.x; }
