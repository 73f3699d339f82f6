// The tools' host memory: mimalloc, passed through the allocator interface as any host app passes its own.
#pragma once

#include "base/allocator.hpp"

namespace baton::tools {

const Allocator& tool_allocator();

}  // namespace baton::tools
