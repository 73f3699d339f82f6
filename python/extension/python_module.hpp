// A module whose functions are functions of Python, through the same door as any native module.
//
// A function without a signature of its own gets the one that a module of the program imports it with. One whose first
// parameter is a command buffer is a custom command: it gets a CommandBuffer, and for each tensor a Binding
// (command_buffer.hpp). What a function raises fails the call, and is the cause of the StatusError that the caller sees.
// Threads: functions take Python's lock, on whatever thread the program runs.
#pragma once

#include <span>

#include "python/extension/values.hpp"
#include "vm/module.hpp"

namespace baton::python {

// `recipe` is a baton.Module: name, functions {name: (callable, signature or "")}, prepare (or None). It must outlive
// the module, which borrows its callables. Entries of `others` may be null.
Ref<const vm::Module> make_python_module(nb::handle recipe, std::span<const Ref<const vm::Module>> others,
                                         std::span<const Ref<OpenDevice>> devices);

}  // namespace baton::python
