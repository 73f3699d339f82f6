// kernel_library.hpp for an app: include this in place of it, and link Baton::device. The app is its own host.
#pragma once

#include "modules/sdk/embed.h"
#include "modules/sdk/kernel_library.hpp"

namespace baton::sdk {

// Before main, and again if it is called: the table is a constant.
inline const bool kIsHost = baton_kernel_functions() != nullptr && bind_host(baton_host_table());

}  // namespace baton::sdk
