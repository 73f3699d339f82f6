#include "compiler-lite/targets.hpp"

#include "compiler-lite/codegen/cuda/target.hpp"
#include "mlir/IR/Builders.h"

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
  MLIRContext* context = module.getContext();
  const auto add = [&](StringRef backend, StringRef format, DictionaryAttr configuration) {
    const auto target = hal::ExecutableTargetAttr::get(context, StringAttr::get(context, backend),
                                                       StringAttr::get(context, format), configuration);
    if (!llvm::is_contained(targets, target)) targets.push_back(target);
  };
  // With the architecture that it stands for, so that objects for that one are taken.
  const auto add_cuda = [&] {
    Builder builder(context);
    add("cuda", "cuda-nvptx-fb",
        builder.getDictionaryAttr(
            builder.getNamedAttr("target_arch", builder.getStringAttr(codegen::cuda::kDefaultArch))));
  };
  for (const std::string& device : options.target_devices) {
    if (is_local(device)) {
      add("llvm-cpu", kHostFormat, {});
    } else if (device == "cuda") {
      add_cuda();
    } else {
      return module.emitError() << "there is no target device '" << device << "'; there are: local, cuda";
    }
  }
  for (const std::string& backend : options.target_backends) {
    if (backend == "llvm-cpu" || backend == "vmvx") {
      add("llvm-cpu", kHostFormat, {});
    } else if (backend == "cuda") {
      add_cuda();
    } else {
      return module.emitError() << "there is no target backend '" << backend << "'; there are: llvm-cpu, vmvx, cuda";
    }
  }
  return success();
}

std::string describe_targets() {
  return "device  backend   formats\n"
         "local   llvm-cpu  embedded-elf-x86_64, embedded-elf-arm_64\n"
         "local   vmvx      none of its own; taken as llvm-cpu\n"
         "cuda    cuda      cuda-nvptx-fb; target_arch: sm_75 and newer, sm_75 without it\n";
}

}  // namespace baton::compiler_lite
