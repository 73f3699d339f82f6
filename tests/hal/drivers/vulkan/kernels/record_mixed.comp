// By address, with constants of several sizes behind the pointers and lengths: each lies where its layout says.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Words target;
  uvec2 lengths[1];
  uint a;
  uint64_t b;
  float c;
  uvec2 d;
};
layout(push_constant) uniform Push { Record record; };
void main() {
  Words target = record.target;
  target.at[0] = record.a;
  target.at[1] = uint(record.b);
  target.at[2] = uint(record.b >> 32);
  target.at[3] = uint(record.c);
  target.at[4] = record.d.y;
}
