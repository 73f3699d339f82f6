// One layer of a perceptron as a function of a plugin: result = lhs * rhs, negative numbers cut when asked to.
#include <stdbool.h>
#include <stdio.h>

#include "samples/custom_dispatch/cpu/plugin/plugin.h"

struct mlp_params {
  const float* lhs;
  size_t lhs_offset;
  const float* rhs;
  size_t rhs_offset;
  float* result;
  size_t result_offset;
  int32_t m, n, k;
  bool do_relu;
};

static int mlp_external(void* params, void* context, void* reserved) {
  (void)context, (void)reserved;
  const struct mlp_params* p = params;
  printf("[Plugin]: M = %d, N = %d, K = %d, doRelu = %d\n", p->m, p->n, p->k, p->do_relu);
  for (int32_t i = 0; i < p->m; ++i) {
    for (int32_t j = 0; j < p->n; ++j) {
      float sum = 0;
      for (int32_t k = 0; k < p->k; ++k) {
        sum += p->lhs[p->lhs_offset + (size_t)(i * p->k + k)] * p->rhs[p->rhs_offset + (size_t)(k * p->n + j)];
      }
      p->result[p->result_offset + (size_t)(i * p->n + j)] = p->do_relu && sum < 0 ? 0 : sum;
    }
  }
  return 0;
}

static const struct import_row rows[] = {{"mlp_external", mlp_external}};

static baton_executable_plugin_status resolve(void* self, const baton_executable_plugin_resolve* request,
                                              uint32_t* out_resolution) {
  (void)self;
  return resolve_from(rows, 1, request, out_resolution);
}

static const baton_executable_plugin_header header = {
    .version = BATON_EXECUTABLE_PLUGIN_VERSION, .name = "mlp", .description = "one layer of a perceptron"};
static const baton_executable_plugin plugin = {&header, load_nothing, unload_nothing, resolve};

__attribute__((visibility("default"))) const baton_executable_plugin_header** baton_executable_plugin_query(
    uint32_t max_version, void* reserved);
const baton_executable_plugin_header** baton_executable_plugin_query(uint32_t max_version, void* reserved) {
  (void)reserved;
  return max_version >= BATON_EXECUTABLE_PLUGIN_VERSION ? (const baton_executable_plugin_header**)&plugin : NULL;
}
