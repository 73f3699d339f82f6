// A kernel whose workgroup and shared memory depend on specialization, for tests.
#version 460
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const uint kRows = 4;
layout(set = 0, binding = 3, std430) buffer Target { uint target[]; };
shared uint rows[kRows][8];
uint work(uint i) {
  rows[i % kRows][i % 8] = i;
  barrier();
  return rows[i % kRows][0];
}
void main() { target[gl_GlobalInvocationID.x] = work(gl_LocalInvocationID.x) + kRows; }
