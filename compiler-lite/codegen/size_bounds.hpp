// size_bounds: the most that a size can be which is only known at run time.
#pragma once

#include <cstdint>
#include <optional>

#include "mlir/IR/Value.h"

namespace baton::compiler_lite::codegen {

// Nothing where there is no bound.
std::optional<int64_t> most(mlir::Value size);
std::optional<int64_t> most(mlir::Value shaped, int64_t dimension);

}  // namespace baton::compiler_lite::codegen
