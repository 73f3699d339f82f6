// What the host runs for an executable, outlined into functions of the program: conditions of variants and exports, and
// constant blocks, whose results the code gets when it is loaded.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

struct HostCode {
  struct Constants {
    std::string function;  // (device) -> words
    unsigned count = 0;
  };
  std::string condition = {};  // (device) -> i1; empty: always.
  std::vector<Constants> constants = {};
  std::vector<std::string> keys = {};  // Of all constants, in order.
};

// A private function with the blocks of `region`, which ends with hal.return; its name.
std::string outline_host_region(mlir::ModuleOp program, llvm::StringRef stem, mlir::Region& region,
                                mlir::TypeRange results);

// Of the condition and the constant blocks in the body of a variant or source.
mlir::FailureOr<HostCode> outline_host_code(mlir::ModuleOp program, llvm::StringRef stem, mlir::Region& body);

// hal.executable.constant.load by number instead of key, for code generators.
mlir::LogicalResult number_constant_loads(mlir::ModuleOp kernels, const HostCode& host);

}  // namespace baton::compiler_lite::schedule
