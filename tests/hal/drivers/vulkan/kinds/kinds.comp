// Kernels as people write them, one for each way to size, type, share and order things: KIND_... says which. Each makes
// `made` of `given`, 64 words that are 0 to 63, as descriptors_test.cpp expects.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_GOOGLE_include_directive : require

#if defined(KIND_spec_size)
layout(local_size_x_id = 0) in;
#elif defined(KIND_spec_size_some)
layout(local_size_x_id = 3, local_size_y = 2) in;
#else
layout(local_size_x = 64) in;
#endif

#if defined(KIND_memory_model)
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#endif

#if defined(KIND_image)
layout(set = 0, binding = 0, r32ui) uniform uimage2D image;
#elif defined(KIND_sampler)
layout(set = 0, binding = 0) uniform sampler2D image;
#elif defined(KIND_texels)
layout(set = 0, binding = 0) uniform usamplerBuffer image;
#elif defined(KIND_uniforms)
layout(set = 0, binding = 0) uniform Uniforms { uint first; };
#elif defined(KIND_buffers)
layout(set = 0, binding = 0) buffer Several { uint words[]; } several[2];
#elif defined(KIND_other_set)
layout(set = 1, binding = 0) buffer Other { uint other[]; };
#elif defined(KIND_structs)
struct Inner { uint a; float b[3]; };
struct Outer { vec3 p; uint q; Inner inside[2]; mat3 m; };
layout(set = 0, binding = 0, std430) readonly buffer Given { uint count; Outer outer[]; };
#elif defined(KIND_bytes)
layout(set = 0, binding = 0) readonly buffer Given { uint8_t given[]; };
#elif defined(KIND_rows)
layout(set = 0, binding = 0, row_major) readonly buffer Given { mat4 given; };
#else
layout(set = 0, binding = 0) readonly buffer Given { uint given[]; };
#endif
#if defined(KIND_halves)
layout(set = 0, binding = 1) buffer Made { float16_t made[]; };
layout(set = 0, binding = 3) buffer Others { int16_t others[]; };
#elif defined(KIND_wide)
#extension GL_EXT_shader_atomic_int64 : require
layout(set = 0, binding = 1) buffer Made { uint64_t total; double made[]; };
#elif defined(KIND_float_atomics)
#extension GL_EXT_shader_atomic_float : require
layout(set = 0, binding = 1) buffer Made { float made[]; };
#elif defined(KIND_rows)
layout(set = 0, binding = 1) buffer Made { vec4 made[]; };
#elif defined(KIND_memory_model)
layout(set = 0, binding = 1) workgroupcoherent buffer Made { uint made[]; };
#else
layout(set = 0, binding = 1) restrict coherent volatile buffer Made { uint made[]; };
#endif

#if defined(KIND_spec_size)
shared uint tile[gl_WorkGroupSize.x];
#elif defined(KIND_spec_size_some)
const uint doubled = gl_WorkGroupSize.x * 2;
shared uint tile[doubled * gl_WorkGroupSize.y];
#elif defined(KIND_spec_array)
layout(constant_id = 1) const int half_of = 8;
layout(constant_id = 2) const bool is_wide = false;
const int rows = is_wide ? half_of * 8 : half_of * 8 - 1 + (half_of >> 3);
shared uint tile[rows][half_of % 5 + 1];
#elif defined(KIND_spec_types)
layout(constant_id = 0) const bool flag = false;
layout(constant_id = 1) const int number = -3;
layout(constant_id = 2) const uint count = 4;
layout(constant_id = 3) const float factor = 1.5;
#elif defined(KIND_spec_widths)
layout(constant_id = 0) const uint64_t wide = 7ul;
layout(constant_id = 2) const double real = 2.5lf;
layout(constant_id = 4) const int16_t small = 5s;
layout(constant_id = 5) const int8_t smaller = int8_t(3);
layout(constant_id = 6) const float16_t half_real = 2.0hf;
#elif defined(KIND_shared_bools)
shared bool odd[64];
shared struct { bool any; uvec3 numbers; mat3x2 m; } common_;
#elif defined(KIND_halves)
shared int8_t bytes_of[64];
shared float16_t halves_of[64];
#elif defined(KIND_wide)
shared uint64_t sum;
#elif defined(KIND_float_atomics)
shared float sum;
#elif defined(KIND_shared_blocks)
#extension GL_EXT_shared_memory_block : require
shared Words { uint words[64]; };
shared Fours { uvec4 fours[16]; };
#elif defined(KIND_push_holes)
layout(push_constant) uniform Push {
  layout(offset = 4) uint a;
  float b;
  layout(offset = 16) vec2 c;
  uint64_t d;
  layout(offset = 48) uint e[2];
} push;
#elif defined(KIND_push_small)
layout(push_constant) uniform Push { uint8_t a; uint8_t b; uint16_t c; float16_t h; uint8_t z; } push;
#elif defined(KIND_push_array)
layout(push_constant) uniform Push { uint words[32]; } push;
#elif defined(KIND_subgroups)
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require
#elif defined(KIND_clock)
#extension GL_EXT_shader_realtime_clock : require
#elif defined(KIND_include)
#include "plus_five.glsl"
#endif

const uint kTable[8] = {3, 1, 4, 1, 5, 9, 2, 6};
void raise(inout uint some[4], uint by) {
  for (int k = 0; k < 4; ++k) some[k] += by;
}

void main() {
  const uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationIndex;
#if defined(KIND_spec_size)
  tile[l] = given[i];
  barrier();
  made[i] = tile[gl_WorkGroupSize.x - 1 - l];
#elif defined(KIND_spec_size_some)
  tile[l] = given[l];
  barrier();
  made[l] = tile[l ^ 1] + doubled;
#elif defined(KIND_spec_array)
  tile[l % rows][1] = given[i];
  barrier();
  made[i] = tile[l % rows][1] + uint(rows);
#elif defined(KIND_spec_types)
  made[i] = (flag ? 100u : 0u) + uint(number) + count + uint(factor * 2);
#elif defined(KIND_spec_widths)
  made[i] = uint(wide >> 32) + uint(wide) + uint(real) + uint(small) + uint(smaller) + uint(half_real);
#elif defined(KIND_shared_bools)
  odd[l] = (given[i] & 1) != 0;
  if (l == 0) {
    common_.any = true;
    common_.numbers = uvec3(1, 2, 3);
  }
  barrier();
  made[i] = (odd[l ^ 1] ? 10 : 20) + (common_.any ? common_.numbers.z : 0);
#elif defined(KIND_structs)
  made[i] = outer.length() * 1000 + count;
#elif defined(KIND_bytes)
  made[i] = given.length() * 100 + uint(given[i * 4]);
#elif defined(KIND_rows)
  made[i] = given * vec4(1) + vec4(gl_NumWorkGroups, 0);
#elif defined(KIND_halves)
  bytes_of[l] = int8_t(given[i]) - int8_t(32);
  halves_of[l] = float16_t(bytes_of[l]) * 0.5hf;
  barrier();
  made[i] = halves_of[l ^ 1];
  others[i] = int16_t(bytes_of[l]) * 2s;
#elif defined(KIND_wide)
  if (l == 0) sum = 0;
  barrier();
  atomicAdd(sum, uint64_t(given[i]) << 32);
  barrier();
  atomicMax(total, sum);
  made[i] = double(given[i]) * 0.5lf;
#elif defined(KIND_float_atomics)
  if (l == 0) sum = 0;
  barrier();
  atomicAdd(sum, 1.0);
  barrier();
  atomicAdd(made[0], float(given[i]));
  if (l == 0) atomicExchange(made[1], sum);
#elif defined(KIND_shared_blocks)
  words[l] = given[i];
  barrier();
  made[i] = fours[l / 4][3 - l % 4];
#elif defined(KIND_push_holes)
  made[i] = push.a + uint(push.b) + uint(push.c.y) + uint(push.d >> 32) + push.e[1];
#elif defined(KIND_push_small)
  made[i] = uint(push.a) + uint(push.b) * 256 + uint(push.c) * 65536 + uint(push.h);
#elif defined(KIND_push_array)
  made[i] = push.words[i % 32];
#elif defined(KIND_subgroups)
  const uint all = subgroupAdd(1u);
  uint sum = subgroupShuffleXor(given[i], 1) + subgroupBallotBitCount(subgroupBallot(true)) - all;
  made[i] = sum + (subgroupAll(true) ? 0 : 1) + subgroupQuadBroadcast(0u, 0) * subgroupShuffleUp(1u, 0);
#elif defined(KIND_memory_model)
  atomicStore(made[i], given[i] + 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
#elif defined(KIND_locals)
  uint some[32], few[4] = {1, 2, 3, 4};
  for (uint k = 0; k < 32; ++k) some[k] = k * given[i];
  raise(few, given[i]);
  made[i] = some[(i * 7) % 32] + kTable[i % 8] + few[i % 4];
#elif defined(KIND_length)
  made[i] = given.length() * 1000 + made.length();
#elif defined(KIND_include)
  made[i] = plus_five(given[i]);
#elif defined(KIND_clock)
  made[i] = clockRealtime2x32EXT().x;
#elif defined(KIND_image)
  made[i] = imageLoad(image, ivec2(0)).x;
#elif defined(KIND_sampler)
  made[i] = uint(textureLod(image, vec2(0), 0).x);
#elif defined(KIND_texels)
  made[i] = texelFetch(image, 0).x;
#elif defined(KIND_uniforms)
  made[i] = first;
#elif defined(KIND_buffers)
  made[i] = several[1].words[0];
#elif defined(KIND_other_set)
  made[i] = other[0];
#endif
}
