// Copies bytes between two addresses: by sixteen where both allow it, else by four, else one by one.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quads { uvec4 value; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint value; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Bytes { uint8_t value; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  uint64_t source;
  uint64_t target;
  uint64_t source_bytes;
  uint64_t bytes;
};
layout(push_constant) uniform Push { Record record; };

void main() {
  const uint64_t source = record.source, target = record.target, bytes = record.bytes;
  const uint64_t first = gl_GlobalInvocationID.x;
  const uint64_t step = uint64_t(gl_NumWorkGroups.x) * 256ul;
  const uint64_t joined = source | target;
  uint64_t done = 0ul;
  if ((joined & 15ul) == 0ul) {
    done = bytes & ~15ul;
    for (uint64_t i = first; i < bytes / 16ul; i += step) Quads(target + i * 16ul).value = Quads(source + i * 16ul).value;
  } else if ((joined & 3ul) == 0ul) {
    done = bytes & ~3ul;
    for (uint64_t i = first; i < bytes / 4ul; i += step) Words(target + i * 4ul).value = Words(source + i * 4ul).value;
  }
  for (uint64_t i = done + first; i < bytes; i += step) Bytes(target + i).value = Bytes(source + i).value;
}
