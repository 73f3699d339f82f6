/* A plugin that succeeds and gives nothing. */
#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)host, (void)parameter_count, (void)parameters;
  (void)right;
  *out_descriptor = NULL;
  return NULL;
}
