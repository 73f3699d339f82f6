// Gatherer: commands that become one recording for each device, and the memories that they touch.
#pragma once

#include <vector>

#include "compiler-lite/schedule/places.hpp"
#include "compiler-lite/schedule/recording.hpp"

namespace baton::compiler_lite::schedule {

struct Gathered {
  Recording recording;
  std::vector<Memory*> memories;  // As recording.plan.storages.
};

class Gatherer {
 public:
  Gatherer(Places& places, unsigned devices) : places_(places), gathered_(devices), size_classes_(devices) {
    for (unsigned device = 0; device < devices; ++device) gathered_[device].recording.device = device;
  }

  Range range_of(mlir::Value tensor, bool reads, bool writes);
  Range range_of(mlir::Location location, mlir::Value tensor, const Place& place, bool reads, bool writes);
  // For the device of the memories that it touches; for `device` when it touches none.
  void gather(Command command, std::string text, unsigned device = 0);
  // Gathers a copy_buffer from the tensor's place to another.
  void copy_buffer(mlir::Location location, mlir::Value tensor, const Place& target);
  // The place of a result that continues an operand's memory, a copy of it where that is still needed.
  Place tie(mlir::Operation* op, mlir::Value operand);

  // The place of new memory with what the tensor holds. Not yet a tensor's.
  Place copy(mlir::Operation* op, mlir::Value tensor);

  // Devices with commands.
  llvm::SmallVector<unsigned> devices() const;
  // All of a device; nothing is gathered for it afterwards, and memories have no storage.
  Gathered take(unsigned device);

 private:
  unsigned storage_of(Memory& memory);

  Places& places_;
  std::vector<Gathered> gathered_;  // By device, as the next.
  std::vector<llvm::DenseMap<mlir::Value, unsigned>> size_classes_;
};

}  // namespace baton::compiler_lite::schedule
