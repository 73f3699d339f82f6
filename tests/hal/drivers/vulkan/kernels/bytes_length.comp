// A byte of target for each of source's, which are as many as there are: neither is whole words.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Source { uint8_t source[]; };
layout(set = 0, binding = 1) buffer Target { uint8_t target[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < target.length()) target[i] = source[i % source.length()];
}
