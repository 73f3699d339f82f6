// The module "collective": commands by which the ranks that a program runs as combine and exchange tensors. A compiled
// program declares them as streamable functions; README.md lists them.
// Threads: immutable; its functions may be called from several contexts at once.
#pragma once

#include "hal/ranks.hpp"
#include "vm/module.hpp"

namespace baton::modules {

Result<Ref<const vm::Module>> make_collective_module(hal::Ranks ranks);

}  // namespace baton::modules
