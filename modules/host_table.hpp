// The table of functions that modules may call: modules/sdk/host.h over the VM's objects.
// Threads: immutable.
#pragma once

#include "base/allocator.hpp"
#include "modules/sdk/host.h"

namespace baton::modules {

// Lives as long as the process; its allocator is the system's.
const baton_host& host_table();

}  // namespace baton::modules
