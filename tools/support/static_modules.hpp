// The native modules that were linked into this tool (tools/cmake/static_modules.cmake writes the function).
#pragma once

#include "modules/module_registry.hpp"

namespace baton::tools {

Status add_static_modules(modules::ModuleRegistry& registry);

}  // namespace baton::tools
