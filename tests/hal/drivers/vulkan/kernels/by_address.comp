// The same by address.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Words source;
  Words target;
  uvec2 lengths[2];
  uint n;
  uint factor;
};
layout(push_constant) uniform Push { Record record; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < record.n) record.target.at[i] = record.factor * record.source.at[i];
}
