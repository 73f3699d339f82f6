/* A plugin of the future: everything behind its version is laid out in a way that nobody knows yet. */
#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)host, (void)parameter_count, (void)parameters;
  (void)right;
  static const struct {
    uint32_t struct_size;
    uint32_t abi_version;
    uint64_t unknown[30];
  } future = {sizeof(future), 1000, {1, 2, 3}};
  *out_descriptor = (const baton_module_descriptor*)&future;
  return NULL;
}
