// Gatherer: commands that become one recording, and the memories that they touch.
#pragma once

#include <vector>

#include "compiler-lite/schedule/places.hpp"
#include "compiler-lite/schedule/recording.hpp"

namespace baton::compiler_lite {

struct Gathered {
  Recording recording;
  std::vector<Memory*> memories;  // As recording.plan.storages.
};

class Gatherer {
 public:
  explicit Gatherer(Places& places) : places_(places) {}

  Range range_of(mlir::Value tensor, bool reads, bool writes);
  Range range_of(mlir::Location location, mlir::Value tensor, const Place& place, bool reads, bool writes);
  void gather(Command command, std::string text);
  // The place of a result that continues an operand's memory, a copy of it where that is still needed.
  Place tie(mlir::Operation* op, mlir::Value operand);

  bool is_empty() const { return gathered_.recording.commands.empty(); }
  // All of it; nothing is gathered afterwards, and memories have no storage.
  Gathered take();

 private:
  unsigned storage_of(Memory& memory);

  Places& places_;
  Gathered gathered_;
  llvm::DenseMap<mlir::Value, unsigned> size_classes_;
};

}  // namespace baton::compiler_lite
