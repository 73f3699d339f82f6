// Takes over the grid of an indirect dispatch if the device can launch it; else launches nothing, and tells the host.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Source { uint grid[3]; };
// builtins.hpp has the same.
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Checked {
  uint grid[3];
  uint refused;  // 1: `asked` is more than there may be.
  uint asked[3];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  Source source;
  Checked checked;
  uint64_t lengths[2];
  uint most[3];
};
layout(push_constant) uniform Push { Record record; };

void main() {
  bool fits = true;
  for (int axis = 0; axis < 3; ++axis) {
    const uint asked = record.source.grid[axis];
    record.checked.asked[axis] = asked;
    fits = fits && asked <= record.most[axis];
  }
  for (int axis = 0; axis < 3; ++axis) record.checked.grid[axis] = fits ? record.checked.asked[axis] : 0;
  if (!fits) record.checked.refused = 1;
}
