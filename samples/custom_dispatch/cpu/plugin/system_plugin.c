// A plugin for the system's loader: it may use the C library, and prints each product. Kernels run on several threads.
#include <stdio.h>

#include "samples/custom_dispatch/cpu/plugin/plugin.h"

static int multiply_group(void* params, void* context, void* reserved) {
  (void)context, (void)reserved;
  const struct multiply_params* p = params;
  printf("processor_id=%u\nprocessor_data[0]=%llx\n", p->processor_id, (unsigned long long)p->processor_data[0]);
  for (size_t i = 64 * p->group; i < 64 * (p->group + 1) && i < p->count; ++i) {
    const float a = p->a[p->a_offset + i], b = p->b[p->b_offset + i];
    p->product[p->product_offset + i] = a * b;
    printf("mul[%zu:%zu](%g * %g = %g)\n", p->group, i, (double)a, (double)b, (double)(a * b));
  }
  return 0;
}

// The slice is the whole work of a group.
static int multiply_slice(void* params, void* context, void* reserved) {
  (void)context, (void)reserved;
  const struct multiply_params* p = params;
  for (size_t i = 0; i < p->count; ++i) {
    const float a = p->a[p->a_offset + i], b = p->b[p->b_offset + i];
    p->product[p->product_offset + i] = a * b;
    printf("mul[%zu:%zu](%g * %g = %g)\n", p->group, i, (double)a, (double)b, (double)(a * b));
  }
  return 0;
}

static const struct import_row rows[] = {{"multiply_group", multiply_group}, {"multiply_slice", multiply_slice}};

static baton_executable_plugin_status resolve(void* self, const baton_executable_plugin_resolve* request,
                                              uint32_t* out_resolution) {
  (void)self;
  return resolve_from(rows, 2, request, out_resolution);
}

static const baton_executable_plugin_header header = {
    .version = BATON_EXECUTABLE_PLUGIN_VERSION, .name = "sample_system", .description = "multiplies, and prints what"};
static const baton_executable_plugin plugin = {&header, load_nothing, unload_nothing, resolve};

__attribute__((visibility("default"))) const baton_executable_plugin_header** baton_executable_plugin_query(
    uint32_t max_version, void* reserved);
const baton_executable_plugin_header** baton_executable_plugin_query(uint32_t max_version, void* reserved) {
  (void)reserved;
  return max_version >= BATON_EXECUTABLE_PLUGIN_VERSION ? (const baton_executable_plugin_header**)&plugin : NULL;
}
