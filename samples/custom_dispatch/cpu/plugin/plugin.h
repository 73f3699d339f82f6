// What both plugins share: how kernels pass their arguments, and the descriptor around the functions.
#include "hal/drivers/local/executable_plugin.h"

// Results, arguments, then the fields that the declaration asks for (hal.import.fields), as C lays them out.
struct multiply_params {
  const float* a;
  size_t a_offset;
  const float* b;
  size_t b_offset;
  float* product;
  size_t product_offset;
  size_t count;
  size_t group;
  uint32_t processor_id;
  const uint64_t* processor_data;
};

typedef int (*import_function)(void* params, void* context, void* reserved);
struct import_row {
  const char* name;
  import_function function;
};

static int names_equal(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

static baton_executable_plugin_status resolve_from(const struct import_row* rows, size_t row_count,
                                                   const baton_executable_plugin_resolve* request,
                                                   uint32_t* out_resolution) {
  int missing = 0;
  for (size_t i = 0; i < request->count; ++i) {
    if (request->out_functions[i]) continue;
    const char* name = request->symbol_names[i];
    const int is_optional = name[0] == '?';
    int found = 0;
    for (size_t row = 0; row < row_count; ++row) {
      if (!names_equal(name + is_optional, rows[row].name)) continue;
      request->out_functions[i] = (void*)(uintptr_t)rows[row].function;
      found = 1;
    }
    if (!found && is_optional) *out_resolution |= 1;
    if (!found && !is_optional) missing = 1;
  }
  return missing ? (void*)(uintptr_t)5 : NULL;
}

static baton_executable_plugin_status load_nothing(const baton_executable_plugin_environment* environment,
                                                   size_t parameter_count,
                                                   const baton_executable_plugin_parameter* parameters,
                                                   void** out_self) {
  (void)environment, (void)parameter_count, (void)parameters;
  *out_self = NULL;
  return NULL;
}
static void unload_nothing(void* self) { (void)self; }
