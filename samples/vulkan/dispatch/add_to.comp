// sum[i] += a[i], by address: the push constants are the address of the dispatch's record, which Baton writes: the
// pointers of the bindings, their lengths in bytes, then the constants. A recording with slots is patched, never
// recorded again, when its kernels are like this one.
#version 460
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Floats a;
  Floats sum;
  uvec2 lengths[2];
  uint count;
};
layout(push_constant) uniform Push { Record record; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < record.count) record.sum.at[i] += record.a.at[i];
}
