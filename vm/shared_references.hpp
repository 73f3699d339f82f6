// Whether the calls of a program change references that they share: globals that calls replace, and lists that globals
// may hold. Two threads would do that at once, and one of them would find an object that the other has released.
#pragma once

#include <span>
#include <string>

#include "vm/program.hpp"

namespace baton::vm {

// What changes them, as the rest of a sentence: "function 'counter.next' replaces references in globals". Empty:
// nothing does, and any number of threads may call functions at the same time. What only initializers do is no matter.
std::string changed_shared_references(std::span<const LinkedModule> modules);

}  // namespace baton::vm
