// check_accesses: each access of a kernel's memory is compared with the end of the object that it is made through.
//
//   %p = llvm.getelementptr %binding[%i]        becomes        llvm.cond_br (offset of %p fits), ^go_on, ^failed
//   %v = llvm.load %p
//
// The failing side takes the number of the check, the byte offset and the object's size, in the way that the target has
// (KernelMemory): it leaves the kernel, or goes on behind the access with zeros in place of what it would have given,
// where other threads may wait for this one. All of a vector counts, of a masked one the lanes whose bit is set.
//
// It runs on the llvm dialect before LLVM's optimizer, which may not then take the address for one that is inside:
// promises of that (inbounds, no overflow) are taken away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen {

// What a failing check is about, for people.
struct AccessCheck {
  std::string access;  // "reads 4 bytes of binding 1"
  std::string line;    // "model.mlir:5:10"; empty when it is unknown.
};

// What a kernel may access, as its target hands it in.
class KernelMemory {
 public:
  struct Object {
    mlir::Value begin;  // Null: the runtime's own, which isn't checked.
    mlir::Value size;   // i64, in bytes.
    std::string name;   // "binding 1"
  };
  virtual ~KernelMemory() = default;
  // The object that begins at `base`, a value that no address arithmetic made; nothing when it is none of the target's.
  virtual std::optional<Object> object_at(mlir::Value base) = 0;
  // Whether a kernel ends at an access that fails; else it goes on without the access.
  virtual bool leaves() const = 0;
  // Writes down what failed, and where the kernel is left ends the block that `builder` stands in. `number` is an i32,
  // the others are i64.
  virtual void fail(mlir::OpBuilder& builder, mlir::Location location, mlir::Value number, mlir::Value offset,
                    mlir::Value size) = 0;
};

// Diagnostics for a function beside the `checked` ones that accesses memory itself.
mlir::LogicalResult refuse_other_accesses(mlir::ModuleOp kernels,
                                          const llvm::SmallPtrSetImpl<mlir::Operation*>& checked);

// Appends to `checks`; a check's number is its position, counted from one. Diagnostics for an access that can't be
// traced to its object.
mlir::LogicalResult check_accesses(mlir::LLVM::LLVMFuncOp kernel, KernelMemory& memory,
                                   std::vector<AccessCheck>& checks);

}  // namespace baton::compiler_lite::codegen
