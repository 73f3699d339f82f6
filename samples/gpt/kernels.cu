// The same for GPUs, in clang's names, so that no CUDA toolkit is needed: a block of 256 threads for each 256 words of a token that is
// added, for each sequence that gets one, or for 16 columns of a product.
#include "sampling.h"

#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

using over_part = float (*)(const float*, lane_part, float);

extern "C" __global__ void append(unsigned* __restrict cache, const unsigned* __restrict update,
                                  const unsigned* slots, const unsigned* positions, unsigned steps, unsigned context, unsigned row, unsigned slot_count) {
  const unsigned block = __nvvm_read_ptx_sreg_ctaid_x(), batch = block / steps, step = block % steps;
  const unsigned i = __nvvm_read_ptx_sreg_ctaid_y() * kAppendedWords + __nvvm_read_ptx_sreg_tid_x();
  if (i >= row) return;
  const unsigned word = update[(unsigned long)block * row + i];  // It is on its way while the place is read.
  const unsigned slot = slots[batch], position = positions[batch];
  if (slot >= slot_count || position >= context || step >= context - position) return;
  cache[((unsigned long)slot * context + position + step) * row + i] = word;
}

// The first of the largest, by all lanes; places[0] says it.
static __attribute__((device)) unsigned find_likeliest(const float* __restrict logits, unsigned count, float* best,
                                                       unsigned* places) {
  const unsigned lane = __nvvm_read_ptx_sreg_tid_x();
  unsigned likeliest = lane < count ? lane : 0;
  float most = logits[likeliest];
#pragma clang loop unroll_count(16)
  for (unsigned i = lane + kLanes; i < count; i += kLanes) {
    const float logit = logits[i];
    if (logit > most) most = logit, likeliest = i;
  }
  for (unsigned half = kLanes / 2;; half /= 2) {
    best[lane] = most;
    places[lane] = likeliest;
    __syncthreads();
    if (half == 0) return places[0];
    if (lane < half) {
      const float other = best[lane + half];
      const unsigned place = places[lane + half];
      if (other > most || (other == most && place < likeliest)) most = other, likeliest = place;
    }
    __syncthreads();
  }
}

// One number of each lane, summed in the order of the lanes; every lane gets the sum.
template <over_part function>
static __attribute__((device)) float over_lanes(float* shared, const float* weights, lane_part part, float cut) {
  const unsigned lane = __nvvm_read_ptx_sreg_tid_x();
  __syncthreads();
  shared[lane] = function(weights, part, cut);
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < kLanes; ++i) sum += shared[i];
  return sum;
}

template <over_part function>
static __attribute__((device)) float find_cut(float* shared, const float* weights, lane_part part, float least,
                                              float wanted) {
  unsigned bits = 0;
  for (int bit = 29; bit >= 0; --bit) {
    const float cut = float_of(bits | 1u << bit);
    if (over_lanes<function>(shared, weights, part, cut > least ? cut : least) >= wanted) bits |= 1u << bit;
  }
  return clamped(float_of(bits), least);
}

extern "C" __global__ void sample(const float* logits, const sampling_settings* settings, const unsigned* positions,
                                  unsigned* tokens, float* weights, unsigned count) {
  __shared__ float sums[kLanes];
  __shared__ unsigned places[kLanes];
  const unsigned lane = __nvvm_read_ptx_sreg_tid_x(), row = __nvvm_read_ptx_sreg_ctaid_x();
  const lane_part part = part_of(lane, count);
  logits += (unsigned long)row * count;
  weights += (unsigned long)row * count;
  const sampling_settings how = settings[row];
  const unsigned likeliest = find_likeliest(logits, count, sums, places);
  if (!(how.temperature > 0)) {
    if (lane == 0) tokens[row] = likeliest;
    return;
  }
  for (unsigned i = part.begin; i < part.end; ++i) {
    weights[i] = exponential((logits[i] - logits[likeliest]) / how.temperature);
  }
  float cut = float_of(1);
  if (how.top_k >= 1) cut = find_cut<count_above>(sums, weights, part, cut, how.top_k);
  if (how.top_p < 1) {
    cut = find_cut<sum_above>(sums, weights, part, cut, how.top_p * over_lanes<sum_above>(sums, weights, part, cut));
  }
  over_lanes<sum_above>(sums, weights, part, cut);
  if (lane == 0) tokens[row] = draw(sums, weights, count, cut, random_number(how.seed, positions[row]));
}

// 16 lanes for each column; each takes every 16th four of its weights.
extern "C" __global__ void product_int8(const float* x, const int* weights, const float* scales, float* product,
                                        unsigned rows, unsigned inner, unsigned outer) {
  __shared__ float sums[16][16];
  const unsigned thread = __nvvm_read_ptx_sreg_tid_x(), lane = thread % 16, fours = inner / 4;
  const unsigned column = __nvvm_read_ptx_sreg_ctaid_x() * 16 + thread / 16;
  for (unsigned r = 0; r < rows; ++r, x += inner) {
    float sum = 0;
    for (unsigned i = column < outer ? lane : fours; i < fours; i += 16) {
      const unsigned four = (unsigned)weights[(unsigned long)column * fours + i];
      for (unsigned j = 0; j < 4; ++j) sum += x[4 * i + j] * (float)(signed char)(four >> 8 * j);
    }
    __syncthreads();
    sums[thread / 16][lane] = sum;
    __syncthreads();
    if (lane == 0 && column < outer) {
      for (unsigned other = 1; other < 16; ++other) sum += sums[thread / 16][other];
      product[(unsigned long)r * outer + column] = sum * scales[column];
    }
  }
}
