/* A plugin that provides acme.multiply; freestanding, so that both loaders take it. Parameter fail=1 makes it refuse.
 */
#include "hal/drivers/local/executable_plugin.h"

struct state {
  baton_executable_plugin_allocator allocator;
  uint32_t factor;
};

struct multiply_params {
  uint32_t result;
  uint32_t a, b;
};

static int multiply(void* params, void* context, void* reserved) {
  (void)reserved;
  struct multiply_params* values = params;
  values->result = values->a * values->b * ((struct state*)context)->factor;
  return values->a == 13 ? 99 : 0;
}

static int equal(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

static baton_executable_plugin_status load(const baton_executable_plugin_environment* environment,
                                           size_t parameter_count, const baton_executable_plugin_parameter* parameters,
                                           void** out_self) {
  if (parameter_count > 0 && parameters[0].key.size == 4 && parameters[0].key.data[0] == 'f')
    return (void*)(uintptr_t)9;
  const baton_executable_plugin_allocation allocation = {sizeof(struct state)};
  void* memory = NULL;
  const baton_executable_plugin_allocator* allocator = &environment->host_allocator;
  baton_executable_plugin_status status = allocator->control(allocator->self, 1, &allocation, &memory);
  if (status) return status;
  struct state* state = memory;
  state->allocator = *allocator;
  state->factor = parameter_count > 0 ? (uint32_t)(parameters[0].value.data[0] - '0') : 1;
  *out_self = state;
  return NULL;
}

static void unload(void* self) {
  const baton_executable_plugin_allocator allocator = ((struct state*)self)->allocator;
  allocator.control(allocator.self, 3, NULL, &self);
}

static baton_executable_plugin_status resolve(void* self, const baton_executable_plugin_resolve* request,
                                              uint32_t* out_resolution) {
  int missing = 0;
  for (size_t i = 0; i < request->count; ++i) {
    if (request->out_functions[i]) continue;
    const char* name = request->symbol_names[i];
    const int optional = name[0] == '?';
    if (equal(name + optional, "acme.multiply")) {
      request->out_functions[i] = (void*)(uintptr_t)multiply;
      request->out_contexts[i] = self;
    } else if (optional) {
      *out_resolution |= 1;
    } else {
      missing = 1;
    }
  }
  return missing ? (void*)(uintptr_t)5 : NULL;
}

static const baton_executable_plugin_header header = {
    .version = BATON_EXECUTABLE_PLUGIN_VERSION,
    .name = "test",
    .description = "multiplies",
    .features = BATON_EXECUTABLE_PLUGIN_STANDALONE,
};
static baton_executable_plugin plugin = {&header, load, unload, resolve};

#ifndef PLUGIN_QUERY
#define PLUGIN_QUERY baton_executable_plugin_query
#endif
__attribute__((visibility("default"))) const baton_executable_plugin_header** PLUGIN_QUERY(uint32_t max_version,
                                                                                           void* reserved);
const baton_executable_plugin_header** PLUGIN_QUERY(uint32_t max_version, void* reserved) {
  (void)reserved;
  return max_version >= BATON_EXECUTABLE_PLUGIN_VERSION ? (const baton_executable_plugin_header**)&plugin : NULL;
}
