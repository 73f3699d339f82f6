// The same for Vulkan: a workgroup for each number.
#version 460
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Numbers { int numbers[]; };

void main() { numbers[gl_WorkGroupID.x] *= 3; }
