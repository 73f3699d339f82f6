// Push constants of other sizes and alignments than words have, each written to where the test reads it.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Push {
  uint a;       // at 0
  uint64_t b;   // at 8
  int8_t c;     // at 16
  int16_t d;    // at 18
  vec3 e;       // at 32
  uint f;       // at 44
  mat2 g;       // at 48
} push;

void main() {
  values[0] = push.a;
  values[1] = uint(push.b);
  values[2] = uint(push.b >> 32);
  values[3] = uint(int(push.c));
  values[4] = uint(int(push.d));
  values[5] = uint(push.e.x);
  values[6] = uint(push.e.z);
  values[7] = push.f;
  values[8] = uint(push.g[1][0]);
}
