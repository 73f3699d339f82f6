// The devices that a program names, where it names several: place() writes them into the module, what comes behind it
// reads them there. The first one is where everything is that nobody places.
#pragma once

#include <string>

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::placement {

// Says of a tensor.transfer where its operand is.
inline constexpr llvm::StringLiteral kFrom = "hal.from";
// Of operations, functions, arguments, results and globals.
inline constexpr llvm::StringLiteral kAffinity = "stream.affinity";
inline constexpr llvm::StringLiteral kBoundaryAffinity = "iree.abi.affinity";

struct NamedDevice {
  std::string name;     // Of its global.
  std::string choices;  // What it is, in the words of hal.devices.find; the first that is there.
  llvm::SmallVector<hal::ExecutableTargetAttr> targets = {};  // As the program says them; none: the usual ones.

  // The kinds of its choices; an empty one where only a number is said.
  llvm::SmallVector<llvm::StringRef> kinds() const;
};

class Devices {
 public:
  // Of a module that place() has gone through.
  explicit Devices(mlir::ModuleOp module);
  Devices() = default;

  bool several() const { return devices_.size() > 1; }
  unsigned count() const { return several() ? static_cast<unsigned>(devices_.size()) : 1; }
  // Of a program that names several.
  const NamedDevice& operator[](unsigned number) const { return devices_[number]; }

  // The first one for null and for what names none.
  unsigned number_of(mlir::Attribute affinity) const;
  // What the attributes of an operation, an argument or a result say; the first device when they say nothing.
  unsigned number_in(mlir::DictionaryAttr attributes) const;

 private:
  llvm::SmallVector<NamedDevice> devices_;
};

void write_devices(mlir::ModuleOp module, llvm::ArrayRef<NamedDevice> devices);
// Whether it was written, or an error about one that was written otherwise.
mlir::FailureOr<bool> has_devices(mlir::ModuleOp module);

mlir::Attribute affinity_on(mlir::MLIRContext* context, llvm::StringRef device);
// The device that an affinity or a promise names; empty for what is neither.
llvm::StringRef device_of(mlir::Attribute affinity);

}  // namespace baton::compiler_lite::placement
