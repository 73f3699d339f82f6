/* What the plugins here share: a descriptor of one function that is right, for each to spoil in its own way. */
#ifndef BATON_TESTS_MODULES_BAD_PLUGINS_PLUGIN_H_
#define BATON_TESTS_MODULES_BAD_PLUGINS_PLUGIN_H_

#include "modules/sdk/baton.h"

static baton_status* answer(baton_call* call) {
  call->values[0] = baton_value_of_i32(42);
  return NULL;
}

static const baton_export exports[] = {{"answer", "v_i", answer, NULL, 0}};

static const baton_module_descriptor right = {
    .struct_size = sizeof(baton_module_descriptor),
    .abi_version = BATON_ABI_VERSION,
    .name = "tested",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = 1,
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor);

#endif
