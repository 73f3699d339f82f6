// Small tensors of the caller's that many commands read, a position or a mask above all.
//
// A recording that is executed with one of them elsewhere changes every command that reads it. So one command copies it into
// transient memory, and the others read it there: a change is two commands', however deep the program.
#pragma once

#include "compiler-lite/schedule/gatherer.hpp"

namespace baton::compiler_lite::schedule {

// The first command that reads such a tensor still reads it where it lies, so that nothing waits for the copy longer than for
// that command.
void copy_small_operands(Gathered& gathered, Places& places);

}  // namespace baton::compiler_lite::schedule
