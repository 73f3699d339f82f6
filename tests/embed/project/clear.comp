// values[i] = 0, with workgroups of another size than scale.comp
#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) writeonly buffer Values { float values[]; };

void main() { values[gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x] = 0; }
