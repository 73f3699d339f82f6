// What an export says of its launches beyond the workgroup's size, in the words of hal/executable.hpp:
//
//   attributes {workgroup_local_memory = 65536 : index, cluster_size = [2 : index, 1 : index, 1 : index], cooperative,
//               early, priority = 1 : i32, local_memory_carveout_percent = 50 : index, subgroup_size = 32 : index}
//
// and where bindings stand among the parameters of code that has another order: binding_parameters = [0, 3].
//
// Numbers are checked by the device that loads the code; here only that they are numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler-lite/dialects/hal/dialect.hpp"

namespace baton::compiler_lite::schedule {

// As rows of entry points hold them.
struct LaunchAttribute {
  std::string name;
  int64_t value;
};

// Reports attributes that are no launch attributes.
mlir::LogicalResult read_launch_attributes(hal::ExecutableExportOp entry, std::vector<LaunchAttribute>& attributes);
mlir::LogicalResult read_local_memory(hal::ExecutableExportOp entry, int64_t& bytes);

}  // namespace baton::compiler_lite::schedule
