// Each workgroup counts in its word, whatever shape the grid has; those beyond the row that the record ends with do
// nothing.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Words target;
  uvec2 length;
  uint workgroups;
};
layout(push_constant) uniform Push { Record record; };

void main() {
  const uint number = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  if (number < record.workgroups) record.target.at[number] += number + 1;
}
