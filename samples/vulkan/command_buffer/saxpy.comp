// y = alpha * x + y, by address: the push constants are all that it takes.
#version 460
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(push_constant) uniform Push {
  Floats x, y;
  uint count;
  float alpha;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) y.at[i] += alpha * x.at[i];
}
