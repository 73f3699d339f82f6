/* The commands' kernels for CPUs: a workgroup for each token that is added, for each sequence that gets one, for 16 columns. */
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
  for (uint32_t i = 0; i < row; ++i) target[i] = update[i];
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

/* product[r, o] = scales[o] * sum of x[r, i] * weights[o, i], by sums that depend on no other row. Constants: rows, inner, outer. */
static int product_int8(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                        const baton_workgroup_state* workgroup) {
  (void)environment;
  const uint32_t rows = dispatch->constants[0], inner = dispatch->constants[1], outer = dispatch->constants[2];
  const float* scales = dispatch->bindings[2];
  float* product = dispatch->bindings[3];
  const uint32_t end = outer - workgroup->id_x * 16 < 16 ? outer : workgroup->id_x * 16 + 16;
  for (uint32_t o = workgroup->id_x * 16; o < end; ++o) {
    const int8_t* weights = (const int8_t*)dispatch->bindings[1] + (size_t)o * inner;
    for (uint32_t r = 0; r < rows; ++r) {
      const float* x = (const float*)dispatch->bindings[0] + (size_t)r * inner;
      float sums[16] = {0}, sum = 0;
      uint32_t i = 0;
      for (; i + 16 <= inner; i += 16) {
        for (uint32_t lane = 0; lane < 16; ++lane) sums[lane] += x[i + lane] * (float)weights[i + lane];
      }
      for (; i < inner; ++i) sum += x[i] * (float)weights[i];
      for (uint32_t lane = 0; lane < 16; ++lane) sum += sums[lane];
      product[(size_t)r * outer + o] = sum * scales[o];
    }
  }
  return 0;
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
