// y = alpha * x + y, 64 elements a workgroup.
#version 460

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Constants {
  uint count;
  float alpha;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = alpha * x[i] + y[i];
}
