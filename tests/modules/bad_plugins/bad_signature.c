/* A plugin with a function whose signature is no signature. */
#include "tests/modules/bad_plugins/plugin.h"

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)host, (void)parameter_count, (void)parameters;
  static const baton_export spoiled[] = {{"answer", "i_q", answer, NULL, 0}};
  static baton_module_descriptor descriptor;
  descriptor = right;
  descriptor.exports = spoiled;
  *out_descriptor = &descriptor;
  return NULL;
}
