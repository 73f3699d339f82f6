// A kernel that expects addresses of buffers among its push constants.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant) uniform Push { Words source; Words target; uint n; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < n) target.at[i] = source.at[i];
}
