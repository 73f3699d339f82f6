// How many turns a loop makes at most, where constants say so.
#pragma once

#include <optional>

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace baton::compiler_lite::schedule {

// Of a scf.for, or of a scf.while that goes on only as long as a number that changes by a constant has not passed another.
std::optional<double> turns_at_most(mlir::LoopLikeOpInterface loop);

}  // namespace baton::compiler_lite::schedule
