// The numbers of element types (hal/interface/numbers.hpp), as buffer views and slots have them.
#pragma once

#include <cstdint>
#include <optional>

#include "mlir/IR/Value.h"

namespace baton::compiler_lite::schedule {

// Nothing for types that no buffer view has.
std::optional<int32_t> element_type_number(mlir::Type type);
// Element type and rank of a tensor in the bits BATON_SLOT_* of modules/sdk/recording.h; 0 where it has no number.
int64_t type_in_slot(mlir::Value tensor);

}  // namespace baton::compiler_lite::schedule
