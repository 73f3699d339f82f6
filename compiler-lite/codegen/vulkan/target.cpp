// The target `vulkan`: a workgroup is a block of threads, the code SPIR-V for any device of Vulkan 1.2.
#include "compiler-lite/codegen/target.hpp"

#include "compiler-lite/codegen/gpu/lower_kernels.hpp"
#include "compiler-lite/codegen/vulkan/executable.hpp"

namespace baton::compiler_lite::codegen {
namespace vulkan {
namespace {

constexpr llvm::StringLiteral kDevices[] = {"vulkan"};
constexpr TargetFacts::Backend kBackends[] = {{"vulkan-spirv", kFormat}};
constexpr TargetFacts kFacts = {.devices = kDevices,
                                .backends = kBackends,
                                .tiling = Tiling::kBlocks,
                                .checks_accesses = true,
                                .code_says_launches = true,
                                .aligns_tensors = true};

class VulkanTarget final : public Target {
 public:
  VulkanTarget() : Target(kFacts) {}

  hal::ExecutableTargetAttr usual(mlir::MLIRContext* context, const TargetSettings&) const override {
    return attribute(context, kFormat);
  }

  bool takes_loops(hal::ExecutableTargetAttr, mlir::OwningOpRef<mlir::ModuleOp> kernels) const override {
    const gpu::Features least{.shared_bytes_max = TargetOptions().shared_bytes_max, .warp = 0};
    return gpu::takes_loops(std::move(kernels), least);
  }

  int64_t local_bytes(hal::ExecutableTargetAttr) const override { return TargetOptions().shared_bytes_max; }

  mlir::FailureOr<std::vector<Variant>> compile(const CompileRequest& request) const override {
    TargetOptions options;
    options.object_search_paths = request.settings.object_search_paths;
    options.explanation = request.settings.explanation;
    options.sanitize = request.settings.sanitize;
    std::vector<Variant> variants;
    if (!options.sanitize) {
      mlir::FailureOr<std::optional<Variant>> other = build_by_subgroups(request.kernels, options, request.objects);
      if (mlir::failed(other)) return mlir::failure();
      if (*other) variants.push_back(std::move(**other));
    }
    mlir::FailureOr<Variant> variant = build_executable(request.kernels, options, request.objects);
    if (mlir::failed(variant)) return mlir::failure();
    variants.push_back(std::move(*variant));
    return variants;
  }
};

}  // namespace

const Target& target() {
  static const VulkanTarget target;
  return target;
}

}  // namespace vulkan
}  // namespace baton::compiler_lite::codegen
