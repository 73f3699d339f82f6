// A kernel whose push constants its compiler takes out: nothing reads them.
#version 460
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Push { uint n; double factor; };
void main() { words[gl_GlobalInvocationID.x] = 7; }
