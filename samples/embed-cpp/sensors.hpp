// The app's own module: its query function, for the registry.
#pragma once

#include "modules/sdk/module.h"

extern "C" baton_status* query_sensors(const baton_host* host, uint64_t parameter_count,
                                       const baton_parameter* parameters,
                                       const baton_module_descriptor** out_descriptor);
