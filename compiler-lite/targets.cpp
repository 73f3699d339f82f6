#include "compiler-lite/targets.hpp"

#include "compiler-lite/codegen/target_of_device.hpp"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite {

using namespace mlir;  // NOLINT: this file makes attributes.

namespace {

const codegen::Target* find_by_backend(llvm::StringRef backend) {
  for (const codegen::Target* target : codegen::all_targets()) {
    for (const codegen::TargetFacts::Backend& each : target->facts().backends) {
      if (each.name == backend) return target;
    }
  }
  return nullptr;
}

std::string pad(llvm::StringRef text, size_t width) {
  return text.str() + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

LogicalResult choose_targets(ModuleOp module, const CompileOptions& options,
                             std::vector<hal::ExecutableTargetAttr>& targets) {
  const codegen::TargetSettings settings{options.object_search_paths, options.target_options};
  const auto add = [&](const codegen::Target& target) {
    const hal::ExecutableTargetAttr usual = target.usual(module.getContext(), settings);
    if (usual && !llvm::is_contained(targets, usual)) targets.push_back(usual);
    return success(static_cast<bool>(usual));
  };
  for (const std::string& device : options.target_devices) {
    const codegen::Target* target = codegen::find_target_of_device(device);
    if (!target) {
      return module.emitError() << "there is no target device '" << device
                                << "'; there are: " << llvm::join(target_devices(), ", ");
    }
    if (failed(add(*target))) return failure();
  }
  for (const std::string& backend : options.target_backends) {
    const codegen::Target* target = find_by_backend(backend);
    if (!target) {
      return module.emitError() << "there is no target backend '" << backend
                                << "'; there are: " << llvm::join(target_backends(), ", ");
    }
    if (failed(add(*target))) return failure();
  }
  // What find_targets takes where neither the command line nor the program says a target.
  return success(!targets.empty() || codegen::all_targets().front()->usual(module.getContext(), settings));
}

std::vector<std::string> target_devices() {
  std::vector<std::string> devices;
  for (const codegen::Target* target : codegen::all_targets()) {
    devices.push_back(target->facts().devices.front().str());
  }
  return devices;
}

std::vector<std::string> target_backends() {
  std::vector<std::string> backends;
  for (const codegen::Target* target : codegen::all_targets()) {
    for (const codegen::TargetFacts::Backend& each : target->facts().backends) backends.push_back(each.name.str());
  }
  return backends;
}

std::vector<TargetOption> target_options() {
  std::vector<TargetOption> options;
  for (const codegen::Target* target : codegen::all_targets()) {
    for (const codegen::TargetFacts::Option& each : target->facts().options) {
      options.push_back({each.name.str(), each.meaning.str(), {}});
      for (const llvm::StringRef alias : each.aliases) options.back().aliases.push_back(alias.str());
    }
  }
  return options;
}

std::string describe_targets() {
  struct Row {
    llvm::StringRef device, backend, formats;
  };
  std::vector<Row> rows = {{"device", "backend", "formats"}};
  for (const codegen::Target* target : codegen::all_targets()) {
    for (const codegen::TargetFacts::Backend& each : target->facts().backends) {
      rows.push_back({target->facts().devices.front(), each.name, each.formats});
    }
  }
  size_t device_width = 0, backend_width = 0;
  for (const Row& row : rows) {
    device_width = std::max(device_width, row.device.size() + 2);
    backend_width = std::max(backend_width, row.backend.size() + 2);
  }
  std::string text;
  for (const Row& row : rows) {
    text += pad(row.device, device_width) + pad(row.backend, backend_width) + row.formats.str() + "\n";
  }
  return text;
}

}  // namespace baton::compiler_lite
