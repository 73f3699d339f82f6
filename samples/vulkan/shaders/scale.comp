// values[i] *= factors[i], in place.
#version 460

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Factors { float factors[]; };
layout(std430, set = 0, binding = 1) buffer Values { float values[]; };
layout(push_constant) uniform Constants { uint count; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) values[i] *= factors[i];
}
