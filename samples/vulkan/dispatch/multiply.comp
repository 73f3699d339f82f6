// target[i] = a[i] * b[i]. Bindings are those of the dispatch, in its order; the push constants are its constants.
#version 460

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Target { float target[]; };
layout(push_constant) uniform Constants { uint count; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) target[i] = a[i] * b[i];
}
