#include "compiler-lite/targets.hpp"

namespace baton::compiler_lite {

using namespace mlir;  // NOLINT: this file makes attributes.

namespace {

#if defined(__aarch64__)
constexpr const char* kHostFormat = "embedded-elf-arm_64";
#else
constexpr const char* kHostFormat = "embedded-elf-x86_64";
#endif

bool is_local(llvm::StringRef device) { return device == "local" || device == "local-sync" || device == "local-task"; }

}  // namespace

LogicalResult choose_targets(ModuleOp module, const CompileOptions& options,
                             std::vector<hal::ExecutableTargetAttr>& targets) {
  for (const std::string& device : options.target_devices) {
    if (is_local(device)) continue;
    return module.emitError() << "there is no target device '" << device << "'; there is: local";
  }
  for (const std::string& backend : options.target_backends) {
    if (backend == "llvm-cpu" || backend == "vmvx") continue;
    return module.emitError() << "there is no target backend '" << backend << "'; there are: llvm-cpu, vmvx";
  }
  if (options.target_devices.empty() && options.target_backends.empty()) return success();
  MLIRContext* context = module.getContext();
  targets.push_back(hal::ExecutableTargetAttr::get(context, StringAttr::get(context, "llvm-cpu"),
                                                   StringAttr::get(context, kHostFormat), DictionaryAttr()));
  return success();
}

std::string describe_targets() {
  return "device  backend   formats\n"
         "local   llvm-cpu  embedded-elf-x86_64, embedded-elf-arm_64\n"
         "local   vmvx      none of its own; taken as llvm-cpu\n";
}

}  // namespace baton::compiler_lite
