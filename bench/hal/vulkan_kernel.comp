// target[0] = constant, by address: as little work as a dispatch can be.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Words target;
  uvec2 lengths[1];
  uint constant;
};
layout(push_constant) uniform Push { Record record; };
void main() { record.target.at[0] = record.constant; }
