/* A plugin whose descriptor ends before its fields do. */
#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)host, (void)parameter_count, (void)parameters;
  static const uint32_t head[2] = {sizeof(head), BATON_ABI_VERSION};
  (void)right;
  *out_descriptor = (const baton_module_descriptor*)(const void*)head;
  return NULL;
}
