// The target `cuda`: a workgroup is a block of threads, the code PTX that NVIDIA's driver compiles for what it finds.
#include "compiler-lite/codegen/target.hpp"

#include "base/text.hpp"
#include "compiler-lite/codegen/cuda/architectures.hpp"
#include "compiler-lite/codegen/cuda/attention.hpp"
#include "compiler-lite/codegen/cuda/executable.hpp"
#include "compiler-lite/codegen/gpu/lower_kernels.hpp"
#include "compiler-lite/codegen/gpu/threads.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::codegen {
namespace cuda {
namespace {

constexpr llvm::StringLiteral kArch = "target_arch";
// A format that names nothing but CUDA; what the code is, its first bytes say.
constexpr llvm::StringLiteral kAnyFormat = "cuda-nvptx-fb";

constexpr llvm::StringLiteral kDevices[] = {"cuda"};
constexpr TargetFacts::Backend kBackends[] = {
    {"cuda", "cuda-nvptx-fb; target_arch: sm_52 and newer, sm_75 without it"}};
constexpr llvm::StringLiteral kLibdevice = "cuda-libdevice";
constexpr TargetFacts::Option kOptions[] = {
    {kLibdevice,
     "libdevice.10.bc of a CUDA toolkit, for math on GPUs; no toolkit is looked for, and without this the math is "
     "Baton's own"}};
constexpr TargetFacts kFacts = {.devices = kDevices,
                                .backends = kBackends,
                                .options = kOptions,
                                .tiling = Tiling::kBlocks,
                                .checks_accesses = true,
                                .has_atomics = true};

// "sm_80"; nothing where the target doesn't say it.
std::optional<std::string> stated_arch(hal::ExecutableTargetAttr target) {
  const mlir::DictionaryAttr configuration = target.getConfiguration();
  const auto arch = configuration ? configuration.getAs<mlir::StringAttr>(kArch) : mlir::StringAttr();
  return arch ? std::optional(arch.str()) : std::nullopt;
}

std::string arch_of(hal::ExecutableTargetAttr target) { return stated_arch(target).value_or(kDefaultArch.str()); }

std::string format_of(hal::ExecutableTargetAttr target, llvm::ArrayRef<char> bytes) {
  std::string format = target.getFormat().str();
  if (format != kAnyFormat) return format;
  const llvm::StringRef code(bytes.data(), bytes.size());
  if (code.starts_with("\x50\xed\x55\xba")) return "cuda-fatbin";
  const std::string arch = stated_arch(target).value_or("");
  llvm::StringRef number = arch;
  if (!number.consume_front("sm_")) return format;
  const bool is_elf =
      code.starts_with(llvm::StringRef("\x7f"
                                       "ELF"));
  return is_elf ? "cuda-" + arch : "cuda-ptx-compute_" + number.str();
}

TargetOptions options_of(const CompileRequest& request) {
  TargetOptions options;
  options.object_search_paths = request.settings.object_search_paths;
  options.libdevice = request.settings.option(kLibdevice);
  options.arch = arch_of(request.target);
  options.explanation = request.settings.explanation;
  options.sanitize = request.settings.sanitize;
  options.linker = request.settings.device_linker;
  return options;
}

// Every thread's code, before it becomes LLVM's.
mlir::FailureOr<std::string> print_threads(mlir::ModuleOp kernels, const TargetInfo& info) {
  if (mlir::failed(lower_to_buffers(kernels, Branches::kWriteOneMemory)) ||
      mlir::failed(gpu::lower_to_threads(kernels, info.has)) || mlir::failed(clean_up(kernels))) {
    return mlir::failure();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernels.print(stream);
  return stream.str();
}

// A line for each kernel: constants, bindings, threads in x, y and z, shared memory.
std::string print_launches(const Variant& variant) {
  std::string text;
  for (const codegen::EntryPoint& entry : variant.entry_points) {
    text += baton::text(entry.name, " ", entry.constant_count, " ", entry.binding_count);
    for (const unsigned size : entry.workgroup_size) text += baton::text(" ", size);
    text += baton::text(" ", entry.local_memory_bytes, "\n");
  }
  return text;
}

class CudaTarget final : public Target {
 public:
  CudaTarget() : Target(kFacts) {}

  // With the architecture that it stands for, so that objects for that one are taken.
  hal::ExecutableTargetAttr usual(mlir::MLIRContext* context, const TargetSettings&) const override {
    return with_arch(context, kDefaultArch);
  }

  hal::ExecutableTargetAttr of_architecture(mlir::MLIRContext* context, llvm::StringRef name) const override {
    return name.starts_with("sm_") ? with_arch(context, name) : hal::ExecutableTargetAttr();
  }

  // Code for the default architecture stands beside any newer one's.
  bool takes_attention(hal::ExecutableTargetAttr target, const Attention& attention) const override {
    const std::optional<TargetInfo> info = target_info(arch_of(target));
    return info && info->has.write_attention && cuda::takes_attention(attention, info->has);
  }

  bool takes_loops(hal::ExecutableTargetAttr target, mlir::OwningOpRef<mlir::ModuleOp> kernels) const override {
    const std::optional<TargetInfo> info = target_info(arch_of(target));
    return info && gpu::takes_loops(std::move(kernels), info->has);
  }

  int64_t local_bytes(hal::ExecutableTargetAttr target) const override {
    const std::optional<TargetInfo> info = target_info(arch_of(target));
    return info ? info->has.shared_bytes_max : 0;
  }

  mlir::FailureOr<std::string> show(const CompileRequest& request, llvm::StringRef stage) const override {
    const TargetOptions options = options_of(request);
    const std::optional<TargetInfo> info = target_info(options.arch);
    if (stage == "threads" && info) return print_threads(request.kernels, *info);
    if (stage == "llvm") return print_llvm(request.kernels, options, request.objects);
    if (stage != "asm" && stage != "launches" && stage != "threads") return Target::show(request, stage);
    mlir::FailureOr<Variant> variant = build_executable(request.kernels, options, request.objects);
    if (mlir::failed(variant)) return mlir::failure();
    if (stage == "launches") return print_launches(*variant);
    return std::string(variant->bytes.begin(), variant->bytes.end());
  }

  // For the default architecture code for a newer one comes first where that one is faster by a multiple.
  mlir::FailureOr<std::vector<Variant>> compile(const CompileRequest& request) const override {
    const TargetOptions options = options_of(request);
    mlir::ModuleOp kernels = request.kernels;
    std::vector<Variant> variants;
    const bool is_default = options.arch.empty() || options.arch == kDefaultArch;
    if (request.objects.empty() && is_default && !options.sanitize && !has_newer(request.beside) &&
        wants_newer_code(kernels)) {
      for (const llvm::StringRef arch : kNewerArchs) {
        TargetOptions newer = options;
        newer.arch = arch.str();
        newer.explanation = nullptr;  // The last variant says it.
        mlir::OwningOpRef<mlir::ModuleOp> copy = kernels.clone();
        if (mlir::failed(add_variant(*copy, newer, request.objects, variants))) return mlir::failure();
      }
    }
    if (mlir::failed(add_variant(kernels, options, request.objects, variants))) return mlir::failure();
    return variants;
  }

  mlir::FailureOr<Variant> embed(const EmbedRequest& request) const override {
    mlir::FailureOr<Variant> variant = embed_binary(request);
    if (mlir::succeeded(variant)) variant->format = format_of(request.target, variant->bytes);
    return variant;
  }

 private:
  hal::ExecutableTargetAttr with_arch(mlir::MLIRContext* context, llvm::StringRef arch) const {
    mlir::Builder builder(context);
    return attribute(context, kAnyFormat,
                     builder.getDictionaryAttr(builder.getNamedAttr(kArch, builder.getStringAttr(arch))));
  }

  // Whether the program says itself for what else there should be code.
  bool has_newer(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) const {
    return llvm::any_of(
        targets, [this](hal::ExecutableTargetAttr target) { return takes(target) && arch_of(target) != kDefaultArch; });
  }

  static mlir::LogicalResult add_variant(mlir::ModuleOp kernels, const TargetOptions& options,
                                         llvm::ArrayRef<Object> objects, std::vector<Variant>& variants) {
    mlir::FailureOr<Variant> variant = build_executable(kernels, options, objects);
    if (mlir::failed(variant)) return mlir::failure();
    variants.push_back(std::move(*variant));
    return mlir::success();
  }
};

}  // namespace

const Target& target() {
  static const CudaTarget target;
  return target;
}

}  // namespace cuda
}  // namespace baton::compiler_lite::codegen
