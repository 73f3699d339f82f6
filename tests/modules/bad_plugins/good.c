/* A plugin that is right, with a second entry that asks for a parameter. */
#include <string.h>

#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)host, (void)parameter_count, (void)parameters;
  *out_descriptor = &right;
  return NULL;
}

BATON_EXPORT baton_status* needs_a_key(const baton_host* host, uint64_t parameter_count,
                                       const baton_parameter* parameters,
                                       const baton_module_descriptor** out_descriptor);
BATON_EXPORT baton_status* needs_a_key(const baton_host* host, uint64_t parameter_count,
                                       const baton_parameter* parameters,
                                       const baton_module_descriptor** out_descriptor) {
  static const char message[] = "The plugin wants key=a&b.";
  const int given = parameter_count == 1 && parameters[0].key.size == 3 && parameters[0].value.size == 3 &&
                    memcmp(parameters[0].key.data, "key", 3) == 0 && memcmp(parameters[0].value.data, "a&b", 3) == 0;
  if (!given) return host->status_make(BATON_INVALID_ARGUMENT, (baton_string){message, sizeof(message) - 1});
  *out_descriptor = &right;
  return NULL;
}
