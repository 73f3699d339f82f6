// The same for Vulkan, compiled once for each entry point: a workgroup of 256 invocations for each 256 words of a token that
// is added, for each sequence that gets one, or for 16 columns of a product. `sample` sums in the order of sampling.h, and `precise` keeps products and
// sums apart; it compares weights by their bits, so that a device that has no numbers below 2^-126 cuts where the others do.
#version 460

#ifdef KERNEL_append
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) writeonly buffer Cache { uint cache[]; };
layout(std430, set = 0, binding = 1) readonly buffer Update { uint new_rows[]; };
layout(std430, set = 0, binding = 2) readonly buffer Slots { uint slots[]; };
layout(std430, set = 0, binding = 3) readonly buffer Positions { uint positions[]; };
layout(push_constant) uniform Constants { uint steps, context, row, slot_count; };

void main() {
  const uint token = gl_WorkGroupID.x, batch = token / steps, step = token % steps;
  const uint i = gl_WorkGroupID.y * 256 + gl_LocalInvocationID.x;
  const uint slot = slots[batch], position = positions[batch];
  if (i >= row || slot >= slot_count || position >= context || step >= context - position) return;
  cache[(slot * context + position + step) * row + i] = new_rows[token * row + i];
}
#endif

#ifdef KERNEL_sample
const uint kLanes = 256;
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Logits { float logits[]; };
layout(std430, set = 0, binding = 1) readonly buffer Settings { vec4 settings[]; };  // Temperature, top-k, top-p, seed.
layout(std430, set = 0, binding = 2) readonly buffer Positions { uint positions[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Tokens { uint tokens[]; };
layout(std430, set = 0, binding = 4) buffer Weights { float weights[]; };
layout(push_constant) uniform Constants { uint count; };
shared float sums[kLanes];
shared uint places[kLanes];

uint row_begin;  // Where this sequence's logits begin.

uint part_begin(uint lane) { return min(lane * ((count + kLanes - 1) / kLanes), count); }
uint part_end(uint lane) { return min(part_begin(lane) + (count + kLanes - 1) / kLanes, count); }
uint bits_at(uint i) { return floatBitsToUint(weights[row_begin + i]); }

float exponential(float x) {
  if (!(x > -87.0)) return 0;
  precise const float scaled = x * 1.44269504;
  const int n = int(scaled - 0.5);
  precise const float r = x - float(n) * 0.693359375 + float(n) * 2.12194440e-4;
  precise const float p =
      1 + r * (1 + r * (0.5 + r * (0.16666667 + r * (0.041666668 + r * (0.0083333333 + r * 0.0013888889)))));
  precise const float whole = p * uintBitsToFloat(uint(n + 127) << 23);
  return whole;
}

float random_number(float seed, uint position) {
  uint x = floatBitsToUint(seed) * 0x9E3779B9u + position * 0x85EBCA6Bu + 1;
  for (int round = 0; round < 2; ++round) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    x ^= x >> 16;
  }
  return float(x >> 8) * (1.0 / 16777216.0);
}

// Counts of weights from `cut` on, or their sums: one number of each lane, added in the order of the lanes.
float over_lanes(bool counted, uint cut) {
  const uint lane = gl_LocalInvocationID.x;
  barrier();
  precise float mine = 0;
  for (uint i = part_begin(lane); i < part_end(lane); ++i) {
    if (bits_at(i) >= cut) mine += counted ? 1.0 : weights[row_begin + i];
  }
  sums[lane] = mine;
  barrier();
  precise float sum = 0;
  for (uint i = 0; i < kLanes; ++i) sum += sums[i];
  return sum;
}

uint find_cut(bool counted, uint least, float wanted) {
  uint bits = 0;
  for (int bit = 29; bit >= 0; --bit) {
    const uint cut = bits | 1u << bit;
    if (over_lanes(counted, max(cut, least)) >= wanted) bits = cut;
  }
  return clamp(bits, least, floatBitsToUint(1.0));
}

uint draw(uint cut, float random) {
  precise float left = 0;
  for (uint i = 0; i < kLanes; ++i) left += sums[i];
  left *= random;
  uint lane = 0, chosen = count;
  for (; lane + 1 < kLanes && left >= sums[lane]; ++lane) left -= sums[lane];
  for (uint i = part_begin(lane); i < part_end(lane); ++i) {
    if (bits_at(i) < cut) continue;
    chosen = i;
    if (left < weights[row_begin + i]) return i;
    left -= weights[row_begin + i];
  }
  if (chosen < count) return chosen;
  for (chosen = count - 1; chosen > 0 && bits_at(chosen) < cut; --chosen) {
  }  // Rounding led past the last one.
  return chosen;
}

void main() {
  const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x;
  row_begin = row * count;
  const vec4 how = settings[row];
  uint likeliest = part_begin(lane) < count ? part_begin(lane) : 0;
  for (uint i = part_begin(lane); i < part_end(lane); ++i) {
    if (logits[row_begin + i] > logits[row_begin + likeliest]) likeliest = i;
  }
  places[lane] = likeliest;
  barrier();
  likeliest = places[0];
  for (uint i = 1; i < kLanes; ++i) {
    if (logits[row_begin + places[i]] > logits[row_begin + likeliest]) likeliest = places[i];
  }
  if (!(how.x > 0)) {
    if (lane == 0) tokens[row] = likeliest;
    return;
  }
  for (uint i = part_begin(lane); i < part_end(lane); ++i) {
    precise const float scaled = (logits[row_begin + i] - logits[row_begin + likeliest]) / how.x;
    weights[row_begin + i] = exponential(scaled);
  }
  uint cut = 1;
  if (how.y >= 1) cut = find_cut(true, cut, how.y);
  if (how.z < 1) cut = find_cut(false, cut, how.z * over_lanes(false, cut));
  over_lanes(false, cut);
  // Each invocation wrote its own part; `draw` reads all of them.
  memoryBarrierBuffer();
  barrier();
  if (lane == 0) tokens[row] = draw(cut, random_number(how.w, positions[row]));
}
#endif

#ifdef KERNEL_product_int8
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { int fours[]; };
layout(std430, set = 0, binding = 2) readonly buffer Scales { float scales[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Constants { uint rows, inner, outer; };
shared float sums[256];

void main() {
  const uint thread = gl_LocalInvocationID.x, lane = thread % 16, column = gl_WorkGroupID.x * 16 + thread / 16, count = inner / 4;
  for (uint r = 0; r < rows; ++r) {
    float sum = 0;
    for (uint i = column < outer ? lane : count; i < count; i += 16) {
      const int four = fours[column * count + i];
      for (int j = 0; j < 4; ++j) sum += x[r * inner + 4 * i + j] * float(bitfieldExtract(four, 8 * j, 8));
    }
    barrier();
    sums[thread] = sum;
    barrier();
    if (lane == 0 && column < outer) {
      for (uint other = 1; other < 16; ++other) sum += sums[thread + other];
      product[r * outer + column] = sum * scales[column];
    }
  }
}
#endif
