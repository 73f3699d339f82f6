// Repeats eight bytes from an address on: by sixteen where it allows it, else by four, else one by one.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quads { uvec4 value; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint value; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Bytes { uint8_t value; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  uint64_t target;
  uint64_t bytes;
  uint low;
  uint high;
};
layout(push_constant) uniform Push { Record record; };

void main() {
  const uint64_t target = record.target, bytes = record.bytes;
  const uint low = record.low, high = record.high;
  const uint64_t first = gl_GlobalInvocationID.x;
  const uint64_t step = uint64_t(gl_NumWorkGroups.x) * 256ul;
  uint64_t done = 0ul;
  if ((target & 15ul) == 0ul) {
    done = bytes & ~15ul;
    for (uint64_t i = first; i < bytes / 16ul; i += step) Quads(target + i * 16ul).value = uvec4(low, high, low, high);
  } else if ((target & 3ul) == 0ul) {
    done = bytes & ~3ul;
    for (uint64_t i = first; i < bytes / 4ul; i += step) Words(target + i * 4ul).value = (i & 1ul) == 0ul ? low : high;
  }
  for (uint64_t i = done + first; i < bytes; i += step) {
    const uint word = (i & 4ul) == 0ul ? low : high;
    Bytes(target + i).value = uint8_t((word >> (8u * uint(i & 3ul))) & 255u);
  }
}
