// The same functions without a C library: a freestanding file that Baton's own loader takes on any system.
#include "samples/custom_dispatch/cpu/plugin/plugin.h"

static int multiply_group(void* params, void* context, void* reserved) {
  (void)context, (void)reserved;
  const struct multiply_params* p = params;
  for (size_t i = 64 * p->group; i < 64 * (p->group + 1) && i < p->count; ++i) {
    p->product[p->product_offset + i] = p->a[p->a_offset + i] * p->b[p->b_offset + i];
  }
  return 0;
}

// The slice is the whole work of a group.
static int multiply_slice(void* params, void* context, void* reserved) {
  (void)context, (void)reserved;
  const struct multiply_params* p = params;
  for (size_t i = 0; i < p->count; ++i) {
    p->product[p->product_offset + i] = p->a[p->a_offset + i] * p->b[p->b_offset + i];
  }
  return 0;
}

static baton_executable_plugin_status resolve(void* self, const baton_executable_plugin_resolve* request,
                                              uint32_t* out_resolution) {
  (void)self;
  const struct import_row rows[] = {{"multiply_group", multiply_group}, {"multiply_slice", multiply_slice}};
  return resolve_from(rows, 2, request, out_resolution);
}

static const baton_executable_plugin_header header = {.version = BATON_EXECUTABLE_PLUGIN_VERSION,
                                                      .name = "sample_standalone",
                                                      .description = "multiplies",
                                                      .features = BATON_EXECUTABLE_PLUGIN_STANDALONE};
static const baton_executable_plugin plugin = {&header, load_nothing, unload_nothing, resolve};

__attribute__((visibility("default"))) const baton_executable_plugin_header** baton_executable_plugin_query(
    uint32_t max_version, void* reserved);
const baton_executable_plugin_header** baton_executable_plugin_query(uint32_t max_version, void* reserved) {
  (void)reserved;
  return max_version >= BATON_EXECUTABLE_PLUGIN_VERSION ? (const baton_executable_plugin_header**)&plugin : NULL;
}
