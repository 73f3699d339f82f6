// The gate: untrusted bytes → ModuleView, or a sentence that names function and offset.
//
// After it nothing is checked again that it proved: container, names, indices, signatures, register banks and frame
// sizes, definition before use on every path, label targets, constants. Every sentence it can say stands in
// verifier_messages.inc. `bytes` must be aligned to 8 (ModuleBytes sees to it) and must outlive the view.
//
// Time is in proportion to the bytes; and where the thread has WorkLimits, their end ends the proof within some
// hundred microseconds: CANCELLED or DEADLINE_EXCEEDED.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "bytecode/module_view.hpp"

namespace baton::bytecode {

Result<ModuleView> verify(std::span<const std::byte> bytes);

}  // namespace baton::bytecode
