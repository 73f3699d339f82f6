/* The commands' kernels for CPUs: a workgroup for each 256 words of a token that is added, for each sequence that gets one, for 16 columns. */
#include "hal/drivers/local/executable_library.h"
#include "sampling.h"

/* Keys or values of new tokens go where their sequences end: cache[slots[b], positions[b] + t] = update[b, t]. Positions beyond the
 * context are left out. Constants: tokens of a sequence, context, words of a token, slots. */
static int append(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                  const baton_workgroup_state* workgroup) {
  (void)environment;
  const uint32_t* constants = dispatch->constants;
  const uint32_t steps = constants[0], context = constants[1], row = constants[2], slots = constants[3];
  const uint32_t batch = workgroup->id_x / steps, step = workgroup->id_x % steps;
  uint32_t* cache = dispatch->bindings[0];
  const uint32_t* update = (const uint32_t*)dispatch->bindings[1] + (size_t)workgroup->id_x * row;
  const uint32_t slot = ((const uint32_t*)dispatch->bindings[2])[batch];
  const uint32_t position = ((const uint32_t*)dispatch->bindings[3])[batch];
  if (slot >= slots || position >= context || step >= context - position) return 0;
  uint32_t* target = cache + ((size_t)slot * context + position + step) * row;
  const uint32_t begin = workgroup->id_y * kAppendedWords;
  const uint32_t end = row - begin < kAppendedWords ? row : begin + kAppendedWords;
  for (uint32_t i = begin; i < end; ++i) target[i] = update[i];
  return 0;
}

typedef float (*over_part)(const float* weights, lane_part part, float cut);

static float over_lanes(over_part function, const float* weights, uint32_t count, float cut) {
  float sum = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) sum += function(weights, part_of(lane, count), cut);
  return sum;
}

/* The greatest cut above which there still is this much. */
static float find_cut(over_part function, const float* weights, uint32_t count, float least, float wanted) {
  uint32_t bits = 0;
  for (int bit = 29; bit >= 0; --bit) {
    const float cut = float_of(bits | 1u << bit);
    if (over_lanes(function, weights, count, cut > least ? cut : least) >= wanted) bits |= 1u << bit;
  }
  return clamped(float_of(bits), least);
}

/* tokens[b] by the logits of sequence b. Constants: vocabulary. */
static int sample(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                  const baton_workgroup_state* workgroup) {
  (void)environment;
  const uint32_t count = dispatch->constants[0], row = workgroup->id_x;
  const float* logits = (const float*)dispatch->bindings[0] + (size_t)row * count;
  const sampling_settings settings = ((const sampling_settings*)dispatch->bindings[1])[row];
  const uint32_t position = ((const uint32_t*)dispatch->bindings[2])[row];
  uint32_t* token = (uint32_t*)dispatch->bindings[3] + row;
  float* weights = (float*)dispatch->bindings[4] + (size_t)row * count;
  uint32_t likeliest = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (logits[i] > logits[likeliest]) likeliest = i;
  }
  *token = likeliest;
  if (!(settings.temperature > 0)) return 0;
  for (uint32_t i = 0; i < count; ++i) {
    weights[i] = exponential((logits[i] - logits[likeliest]) / settings.temperature);
  }
  float cut = float_of(1);
  if (settings.top_k >= 1) cut = find_cut(count_above, weights, count, cut, settings.top_k);
  if (settings.top_p < 1) {
    cut = find_cut(sum_above, weights, count, cut, settings.top_p * over_lanes(sum_above, weights, count, cut));
  }
  float sums[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) sums[lane] = sum_above(weights, part_of(lane, count), cut);
  *token = draw(sums, weights, count, cut, random_number(settings.seed, position));
  return 0;
}

/* Sixteen sums of a product run beside each other. AVX2 takes the same sums in the same order, without fused multiply-add, so the
 * products have the same bits; it has room for the sums of four columns at once. */
#define PART_OF_KERNEL static inline __attribute__((always_inline))

/* products[o] for so many columns at once: their sums don't wait for each other, and x is loaded once for them. */
PART_OF_KERNEL void multiply_columns(const uint32_t columns, const float* x, const int8_t* weights, uint32_t inner,
                                     const float* scales, float* products) {
  float sums[4][16] = {{0}};
  uint32_t i = 0;
  for (; i + 16 <= inner; i += 16) {
    for (uint32_t o = 0; o < columns; ++o) {
      const int8_t* column = weights + (size_t)o * inner + i;
      for (uint32_t lane = 0; lane < 16; ++lane) sums[o][lane] += x[i + lane] * (float)column[lane];
    }
  }
  for (uint32_t o = 0; o < columns; ++o) {
    float sum = 0;
    for (uint32_t rest = i; rest < inner; ++rest) sum += x[rest] * (float)weights[(size_t)o * inner + rest];
    for (uint32_t lane = 0; lane < 16; ++lane) sum += sums[o][lane];
    products[o] = sum * scales[o];
  }
}

PART_OF_KERNEL int multiply_int8(const uint32_t columns, const baton_dispatch_state* dispatch,
                                 const baton_workgroup_state* workgroup) {
  const uint32_t rows = dispatch->constants[0], inner = dispatch->constants[1], outer = dispatch->constants[2];
  const float* scales = dispatch->bindings[2];
  const int8_t* weights = dispatch->bindings[1];
  const uint32_t begin = workgroup->id_x * 16, end = outer - begin < 16 ? outer : begin + 16;
  for (uint32_t r = 0; r < rows; ++r) {
    const float* x = (const float*)dispatch->bindings[0] + (size_t)r * inner;
    float* products = (float*)dispatch->bindings[3] + (size_t)r * outer;
    uint32_t o = begin;
    for (; o + columns <= end; o += columns) {
      multiply_columns(columns, x, weights + (size_t)o * inner, inner, scales + o, products + o);
    }
    for (; o < end; ++o) multiply_columns(1, x, weights + (size_t)o * inner, inner, scales + o, products + o);
  }
  return 0;
}

#ifdef __x86_64__
/* Bits of the processor's first word: hal/drivers/local/processor.hpp. */
#define PROCESSOR_AVX2 (1u << 7)

static __attribute__((target("avx2"), noinline)) int multiply_int8_avx2(const baton_dispatch_state* dispatch,
                                                                        const baton_workgroup_state* workgroup) {
  return multiply_int8(4, dispatch, workgroup);
}
#endif

/* product[r, o] = scales[o] * sum of x[r, i] * weights[o, i], by sums that depend on no other row. Constants: rows, inner, outer. */
static int product_int8(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                        const baton_workgroup_state* workgroup) {
#ifdef __x86_64__
  if (environment->processor.data[0] & PROCESSOR_AVX2) return multiply_int8_avx2(dispatch, workgroup);
#else
  (void)environment;
#endif
  return multiply_int8(1, dispatch, workgroup);
}

static const baton_kernel kernels[] = {append, sample, product_int8};
static const char* const names[] = {"append", "sample", "product_int8"};
static const baton_kernel_attributes attributes[] = {
    {4, 4, 64, 1, 1, 0}, {1, 5, kLanes, 1, 1, 0}, {3, 4, 256, 1, 1, 0}};
static const baton_executable_library library = {
    .struct_size = sizeof(baton_executable_library),
    .version = BATON_EXECUTABLE_LIBRARY_VERSION,
    .name = "gpt_kernels",
    .kernel_count = 3,
    .kernels = kernels,
    .kernel_names = names,
    .kernel_attributes = attributes,
};

BATON_EXECUTABLE_EXPORT const baton_executable_library* baton_executable_library_query(
    uint32_t max_version, const baton_executable_environment* environment);
const baton_executable_library* baton_executable_library_query(uint32_t max_version,
                                                               const baton_executable_environment* environment) {
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}
