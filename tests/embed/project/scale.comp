// values[i] *= factor
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radius.h"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Values { float values[]; };
layout(push_constant) uniform Constants { float factor; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < values.length()) values[i] *= factor * RADIUS;
}
