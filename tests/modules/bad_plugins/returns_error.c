/* A plugin that refuses to serve. */
#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  static const char message[] = "There is no license for this machine.";
  (void)parameter_count, (void)parameters, (void)right;
  *out_descriptor = NULL;
  return host->status_make(BATON_PERMISSION_DENIED, (baton_string){message, sizeof(message) - 1});
}
