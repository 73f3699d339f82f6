// Includes the door as plugin authors do.
#include "modules/sdk/baton.h"

uint32_t abi_version_that_this_plugin_needs() { return BATON_ABI_VERSION; }
