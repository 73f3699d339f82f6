// TargetCode: an executable's code, as codegen's targets make it (codegen/target.hpp): of kernels, or of the objects
// that the user brings.
#pragma once

#include "compiler-lite/codegen/target.hpp"
#include "compiler-lite/schedule/executable.hpp"

namespace baton::compiler_lite::schedule {

class TargetCode {
 public:
  TargetCode(llvm::ArrayRef<hal::ExecutableTargetAttr> targets, const codegen::TargetSettings& settings)
      : targets_(targets), settings_(settings) {}

  // Where code comes from for one target.
  struct Source {
    hal::ExecutableTargetAttr target;
    llvm::SmallVector<hal::ExecutableObjectAttr> objects = {};
    HostCode host = {};
    mlir::Region* exports = nullptr;                        // What the program says of launches.
    llvm::ArrayRef<hal::ExecutableTargetAttr> beside = {};  // What else this executable is made for; empty: all.
  };

  // Adds variants that are made of `kernels`, which is changed. The target is one that code is generated for.
  mlir::LogicalResult compile(Executable& executable, mlir::ModuleOp kernels, const Source& source) const;
  // Adds the objects as a variant, whatever the target; without any the host brings the code.
  mlir::LogicalResult embed(Executable& executable, const Source& source) const;

 private:
  llvm::ArrayRef<hal::ExecutableTargetAttr> targets_;
  const codegen::TargetSettings& settings_;
};

}  // namespace baton::compiler_lite::schedule
