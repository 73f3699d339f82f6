#include "compiler-lite/schedule/launch_attributes.hpp"

#include "mlir/IR/BuiltinAttributes.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

using Attributes = std::vector<LaunchAttribute>;

LogicalResult refuse(hal::ExecutableExportOp entry, StringRef name, StringRef wanted) {
  return entry.emitOpError("says ") << name << " = " << entry->getAttr(name) << ", which is " << wanted;
}

int64_t number_of(mlir::Attribute number) { return llvm::cast<mlir::IntegerAttr>(number).getValue().getSExtValue(); }

LogicalResult read_number(hal::ExecutableExportOp entry, StringRef name, Attributes& attributes) {
  const mlir::Attribute given = entry->getAttr(name);
  if (!given) return success();
  const auto number = llvm::dyn_cast<mlir::IntegerAttr>(given);
  if (!number) return refuse(entry, name, "no integer");
  attributes.push_back({name.str(), number_of(number)});
  return success();
}

// `cooperative` alone, or with a truth value.
LogicalResult read_flag(hal::ExecutableExportOp entry, StringRef name, Attributes& attributes) {
  const mlir::Attribute given = entry->getAttr(name);
  if (!given) return success();
  const auto truth = llvm::dyn_cast<mlir::BoolAttr>(given);
  if (!truth && !llvm::isa<mlir::UnitAttr>(given)) return refuse(entry, name, "neither true nor false");
  if (!truth || truth.getValue()) attributes.push_back({name.str(), 1});
  return success();
}

LogicalResult read_axes(hal::ExecutableExportOp entry, StringRef name, Attributes& attributes) {
  const mlir::Attribute given = entry->getAttr(name);
  if (!given) return success();
  const auto sizes = llvm::dyn_cast<mlir::ArrayAttr>(given);
  const auto is_number = [](mlir::Attribute each) { return llvm::isa<mlir::IntegerAttr>(each); };
  if (!sizes || sizes.empty() || sizes.size() > 3 || !llvm::all_of(sizes, is_number)) {
    return refuse(entry, name, "no list of one to three integers");
  }
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    attributes.push_back({(name + "_" + llvm::Twine("xyz"[axis])).str(), number_of(sizes[axis])});
  }
  return success();
}

// A word each, in the singular.
LogicalResult read_list(hal::ExecutableExportOp entry, StringRef name, Attributes& attributes) {
  const mlir::Attribute given = entry->getAttr(name);
  if (!given) return success();
  const auto numbers = llvm::dyn_cast<mlir::ArrayAttr>(given);
  const auto is_number = [](mlir::Attribute each) { return llvm::isa<mlir::IntegerAttr>(each); };
  if (!numbers || !llvm::all_of(numbers, is_number)) return refuse(entry, name, "no list of integers");
  for (const mlir::Attribute each : numbers) attributes.push_back({name.drop_back().str(), number_of(each)});
  return success();
}

}  // namespace

LogicalResult read_launch_attributes(hal::ExecutableExportOp entry, Attributes& attributes) {
  if (failed(read_axes(entry, "cluster_size", attributes))) return failure();
  for (const StringRef flag : {"cooperative", "early"}) {
    if (failed(read_flag(entry, flag, attributes))) return failure();
  }
  for (const StringRef number : {"local_memory_carveout_percent", "priority", "subgroup_size"}) {
    if (failed(read_number(entry, number, attributes))) return failure();
  }
  return read_list(entry, "binding_parameters", attributes);
}

LogicalResult read_local_memory(hal::ExecutableExportOp entry, int64_t& bytes) {
  Attributes found;
  if (failed(read_number(entry, "workgroup_local_memory", found))) return failure();
  if (found.empty()) return success();
  bytes = found[0].value;
  if (bytes >= 0 && bytes <= INT32_MAX) return success();
  return refuse(entry, "workgroup_local_memory", "no number of bytes from 0 to 2147483647");
}

}  // namespace baton::compiler_lite::schedule
