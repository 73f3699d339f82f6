// product[i] = a[i] * b[i]
#version 460

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Constants { uint count; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) product[i] = a[i] * b[i];
}
