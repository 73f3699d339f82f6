// schedule_function: takes the tensors out of one function.
//
// Operations on tensors become commands, which are gathered while the host's operations stay where they are; when the
// host needs what a command makes (it exports a tensor, reads an element, branches, calls), what was gathered becomes
// one recording that is executed there, and where the host must see the result, awaited. The rooms that do so are
// listed in scheduled_function.hpp.
#pragma once

#include "compiler-lite/schedule/program.hpp"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult schedule_function(util::FuncOp function, Program& program);

}  // namespace baton::compiler_lite::schedule
