/* How a token is chosen, in words that C and CUDA share, so that a GPU and a CPU choose the same: sums go over 256 lanes, each over
 * its part of the vocabulary in order, and then over the lanes in order.
 *
 * A weight is exp((logit - largest) / temperature); no logarithm, no sort: weights are positive, so their bits are in their order,
 * and where to cut (top-k, top-p) is found bit by bit.
 */
#ifndef SAMPLES_GPT_SAMPLING_H_
#define SAMPLES_GPT_SAMPLING_H_

#pragma clang fp contract(off)

#ifdef __CUDA__
#define GPT_DEVICE static __attribute__((device)) inline
#else
#define GPT_DEVICE static inline
#endif

enum { kLanes = 256 };
/* What a workgroup moves of a token's row: its words of four bytes. */
enum { kAppendedWords = 256 };

/* For each sequence: temperature (0: the likeliest), how many tokens at most (0: all), their share (1: all), a seed. */
typedef struct {
  float temperature, top_k, top_p, seed;
} sampling_settings;

typedef struct {
  unsigned begin, end;
} lane_part;

GPT_DEVICE lane_part part_of(unsigned lane, unsigned count) {
  const unsigned size = (count + kLanes - 1) / kLanes, begin = lane * size < count ? lane * size : count;
  const lane_part part = {begin, begin + size < count ? begin + size : count};
  return part;
}

GPT_DEVICE float float_of(unsigned bits) {
  union {
    unsigned bits;
    float number;
  } both = {bits};
  return both.number;
}

/* exp of what is not positive, by 2^n times a polynomial; 0 below -87. */
GPT_DEVICE float exponential(float x) {
  if (!(x > -87.0f)) return 0;
  const float scaled = x * 1.44269504f;
  const int n = (int)(scaled - 0.5f);
  const float r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f;
  const float p =
      1 + r * (1 + r * (0.5f + r * (0.16666667f + r * (0.041666668f + r * (0.0083333333f + r * 0.0013888889f)))));
  return p * float_of((unsigned)(n + 127) << 23);
}

/* A number in [0, 1) that depends on a seed and the position of the token. */
GPT_DEVICE float random_number(float seed, unsigned position) {
  union {
    float number;
    unsigned bits;
  } both = {seed};
  unsigned x = both.bits * 0x9E3779B9u + position * 0x85EBCA6Bu + 1;
  for (int round = 0; round < 2; ++round) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    x ^= x >> 16;
  }
  return (float)(x >> 8) * (1.0f / 16777216.0f);
}

/* A cut leaves at least the likeliest token, whose weight is 1. */
GPT_DEVICE float clamped(float cut, float least) { return cut > 1 ? 1 : cut > least ? cut : least; }

/* Of a part: how many weights are at least `cut`, and what they sum up to. */
GPT_DEVICE float count_above(const float* weights, lane_part part, float cut) {
  unsigned count = 0;
  for (unsigned i = part.begin; i < part.end; ++i) count += weights[i] >= cut;
  return (float)count;
}
GPT_DEVICE float sum_above(const float* weights, lane_part part, float cut) {
  float sum = 0;
  for (unsigned i = part.begin; i < part.end; ++i) sum += weights[i] >= cut ? weights[i] : 0;
  return sum;
}

/* The token at which the sum of weights reaches a share of it all; sums[] are those of the lanes. */
GPT_DEVICE unsigned draw(const float* sums, const float* weights, unsigned count, float cut, float random) {
  unsigned lane = 0, chosen = count;
  float left = 0;
  for (unsigned i = 0; i < kLanes; ++i) left += sums[i];
  left *= random;
  for (; lane + 1 < kLanes && left >= sums[lane]; ++lane) left -= sums[lane];
  const lane_part part = part_of(lane, count);
  for (unsigned i = part.begin; i < part.end; ++i) {
    if (weights[i] < cut) continue;
    chosen = i;
    if (left < weights[i]) return i;
    left -= weights[i];
  }
  if (chosen < count) return chosen;
  for (chosen = count - 1; chosen > 0 && weights[chosen] < cut; --chosen) {
  } /* Rounding led past the last one. */
  return chosen;
}

#endif
