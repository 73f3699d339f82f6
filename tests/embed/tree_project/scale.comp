#version 460
#extension GL_GOOGLE_include_directive : require
#include "factor.h"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Values { float values[]; };

void main() {
#ifdef KERNEL_double
  values[gl_GlobalInvocationID.x] *= 2 * FACTOR;
#else
  values[gl_GlobalInvocationID.x] *= FACTOR;
#endif
}
