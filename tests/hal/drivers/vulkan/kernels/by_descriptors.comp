// A kernel by descriptors, for tests: target[i] = factor * source[i].
#version 460
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 1, std430) buffer Target { uint target[]; };
layout(push_constant) uniform Constants { uint n; uint factor; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < n) target[i] = factor * source[i];
}
