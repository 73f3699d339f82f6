// The suite's kernels (kernels.h) for Vulkan; -DKERNEL_<name> picks one. BY_DESCRIPTORS: bindings of set 0 and push
// constants; else by the address of the dispatch's record.
#version 460

#if defined(KERNEL_add)
#define SIZE 64
#define BINDINGS BINDING(0, a) BINDING(1, b) BINDING(2, target)
#define COUNT 3
#define CONSTANTS uint n;
#elif defined(KERNEL_scale)
#define SIZE 64
#define BINDINGS BINDING(0, values)
#define COUNT 1
#define CONSTANTS uint n; uint factor;
#elif defined(KERNEL_write_ids)
#define SIZE 1
#define BINDINGS BINDING(0, target)
#define COUNT 1
#elif defined(KERNEL_local_sum)
#define SIZE 16
#define BINDINGS BINDING(0, source) BINDING(1, target)
#define COUNT 2
#else
#define SIZE 1
#define BINDINGS BINDING(0, any)
#define COUNT 1
#endif

layout(local_size_x = SIZE) in;

#ifdef BY_DESCRIPTORS

#define BINDING(ordinal, name) layout(set = 0, binding = ordinal, std430) buffer Buffer_##name { uint name[]; };
BINDINGS
#ifdef CONSTANTS
layout(push_constant) uniform Constants { CONSTANTS };
#endif
#define AT(name, i) name[i]
#define CONSTANT(name) name

#else

#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
#define BINDING(ordinal, name) Words name;
#ifndef CONSTANTS
#define CONSTANTS
#endif
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Record {
  BINDINGS
  uvec2 lengths[COUNT];
  CONSTANTS
};
layout(push_constant) uniform Push { Record record; };
#define AT(name, i) record.name.at[i]
#define CONSTANT(name) record.name

#endif

#if defined(KERNEL_add)
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < CONSTANT(n)) AT(target, i) = AT(a, i) + AT(b, i);
}
#elif defined(KERNEL_scale)
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < CONSTANT(n)) AT(values, i) = AT(values, i) * CONSTANT(factor);
}
#elif defined(KERNEL_write_ids)
void main() {
  const uvec3 id = gl_WorkGroupID;
  const uint row = id.z * gl_NumWorkGroups.y + id.y;
  AT(target, row * gl_NumWorkGroups.x + id.x) = id.x + 100 * id.y + 10000 * id.z;
}
#elif defined(KERNEL_local_sum)
shared uint scratch[16];
void main() {
  const uint lane = gl_LocalInvocationID.x;
  scratch[lane] = AT(source, gl_WorkGroupID.x * 16 + lane);
  barrier();
  if (lane != 0) return;
  uint sum = 0;
  for (uint i = 0; i < 16; ++i) sum += scratch[i];
  AT(target, gl_WorkGroupID.x) = sum;
}
#else
void main() {
  if (gl_WorkGroupID.x == 0xffffffffu) AT(any, 0) = 7;
}
#endif
