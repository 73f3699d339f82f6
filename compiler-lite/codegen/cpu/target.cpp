// The target `cpu`: a workgroup is a call on a core, the code a freestanding library that the local driver loads.
#include "compiler-lite/codegen/target.hpp"

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/cpu/levels.hpp"
#include "compiler-lite/codegen/cpu/lower_bodies.hpp"
#include "compiler-lite/codegen/cpu/user_library.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace baton::compiler_lite::codegen {
namespace cpu {
namespace {

constexpr llvm::StringLiteral kDevices[] = {"local", "local-sync", "local-task"};
constexpr TargetFacts::Backend kBackends[] = {{"llvm-cpu", "embedded-elf-x86_64, embedded-elf-arm_64"},
                                              {"vmvx", "none of its own; taken as llvm-cpu"}};
constexpr llvm::StringLiteral kFormats[] = {"embedded-elf-x86_64", "embedded-elf-arm_64"};
constexpr llvm::StringLiteral kTriple = "llvmcpu-target-triple";
constexpr llvm::StringLiteral kLevels = "cpu-levels";
constexpr llvm::StringLiteral kProcessor = "llvmcpu-target-cpu";
constexpr llvm::StringLiteral kProcessorAliases[] = {"march", "mcpu"};
constexpr llvm::StringLiteral kFeatures = "llvmcpu-target-cpu-features";
constexpr TargetFacts::Option kOptions[] = {
    {kTriple, "The processors to compile for, as in aarch64-linux-gnu: x86_64 or aarch64; this machine's without it"},
    {kLevels,
     "Processors of x86_64 to make code for: a list of baseline, avx2 and avx512 (the default is all of them), or "
     "host, which is the best that this machine has: compiled sooner, but it may not run elsewhere"},
    {kProcessor,
     "The one processor to make code for, as compilers name it: haswell, znver4, neoverse-n1; generic is every one of "
     "the "
     "architecture, host (or native) this machine's. It means the best of --cpu-levels that the processor has",
     kProcessorAliases},
    {kFeatures,
     "What that processor has beside or without its name's features, as in +avx2,-avx512f, or host: this machine's"}};
constexpr TargetFacts kFacts = {.devices = kDevices,
                                .backends = kBackends,
                                .formats = kFormats,
                                .options = kOptions,
                                .tiling = Tiling::kCores,
                                .takes_constants = true,
                                .checks_accesses = true,
                                .code_says_launches = true};

mlir::LogicalResult read_processor(const TargetSettings& settings, mlir::Location location, TargetOptions& options) {
  const NamedProcessor processor{settings.option(kProcessor), settings.option(kFeatures)};
  if (processor.name.empty() && processor.features.empty()) return mlir::success();
  if (!options.levels.empty()) {
    return mlir::emitError(location, "--")
           << kLevels << " says for which processors code is made, and --"
           << (processor.name.empty() ? kFeatures : kProcessor) << " says it, too; give one of them.";
  }
  const LevelOfProcessor found = level_of(options.architecture, processor);
  if (!found.problem.empty()) return mlir::emitError(location, found.problem);
  if (found.level) options.levels = {*found.level};
  return mlir::success();
}

mlir::LogicalResult read_levels(const TargetSettings& settings, mlir::Location location, std::vector<Level>& levels) {
  const std::string text = settings.option(kLevels);
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef name : names) {
    const std::optional<Level> level = name == "host" ? host_level()
                                                      : llvm::StringSwitch<std::optional<Level>>(name)
                                                            .Case("baseline", Level::kBaseline)
                                                            .Case("avx2", Level::kAvx2)
                                                            .Case("avx512", Level::kAvx512)
                                                            .Default(std::nullopt);
    if (!level) return mlir::emitError(location, "There is no level '") << name << "' of a processor.";
    levels.push_back(*level);
  }
  // The best one last, and each once.
  llvm::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return mlir::success();
}

mlir::FailureOr<TargetOptions> options_of(hal::ExecutableTargetAttr target, const TargetSettings& settings,
                                          mlir::Location location) {
  TargetOptions options;
  const bool is_arm = target.getFormat().getValue() == format_name(Architecture::kAarch64);
  options.architecture = is_arm ? Architecture::kAarch64 : Architecture::kX86_64;
  options.object_search_paths = settings.object_search_paths;
  options.explanation = settings.explanation;
  options.sanitize = settings.sanitize;
  options.times = settings.times;
  if (mlir::failed(read_levels(settings, location, options.levels))) return mlir::failure();
  if (mlir::failed(read_processor(settings, location, options))) return mlir::failure();
  return options;
}

std::string print_text(mlir::ModuleOp kernels) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernels.print(stream);
  return stream.str();
}

class CpuTarget final : public Target {
 public:
  CpuTarget() : Target(kFacts) {}

  // This machine's kind of processor where nothing is said.
  hal::ExecutableTargetAttr usual(mlir::MLIRContext* context, const TargetSettings& settings) const override {
    const std::string stated = settings.option(kTriple);
    const llvm::Triple triple(stated.empty() ? llvm::sys::getDefaultTargetTriple() : llvm::Triple::normalize(stated));
    if (triple.isAArch64(64) && triple.isLittleEndian()) return attribute(context, format_name(Architecture::kAarch64));
    if (triple.getArch() == llvm::Triple::x86_64) return attribute(context, format_name(Architecture::kX86_64));
    mlir::emitError(mlir::UnknownLoc::get(context), "There is no code for processors of '")
        << triple.str() << "'; --" << kTriple << " takes x86_64 and aarch64.";
    return {};
  }

  mlir::FailureOr<std::vector<Variant>> compile(const CompileRequest& request) const override {
    const mlir::FailureOr<TargetOptions> options = options_of(request.target, request.settings, request.location());
    if (mlir::failed(options)) return mlir::failure();
    mlir::FailureOr<Variant> variant = build_executable(request.kernels, *options, request.objects);
    if (mlir::failed(variant)) return mlir::failure();
    return std::vector<Variant>{std::move(*variant)};
  }

  bool takes_loops(hal::ExecutableTargetAttr, mlir::OwningOpRef<mlir::ModuleOp> kernels) const override {
    constexpr uint64_t kTemporaryBytesMax = 64 * 1024;  // Of a workgroup's local memory.
    return mlir::succeeded(lower_to_buffers(*kernels)) && temporary_bytes(*kernels) <= kTemporaryBytesMax;
  }

  hal::ExecutableTargetAttr of_architecture(mlir::MLIRContext* context, llvm::StringRef name) const override {
    if (name == "x86_64") return attribute(context, format_name(Architecture::kX86_64));
    if (name == "aarch64") return attribute(context, format_name(Architecture::kAarch64));
    return {};
  }

  mlir::FailureOr<std::string> show(const CompileRequest& request, llvm::StringRef stage) const override {
    mlir::ModuleOp kernels = request.kernels;
    const mlir::FailureOr<TargetOptions> options = options_of(request.target, request.settings, request.location());
    if (mlir::failed(options)) return mlir::failure();
    if (stage == "loops") {
      const BodyOptions avx2{32, 16, /*has_pair_sums=*/true};
      if (mlir::failed(lower_to_buffers(kernels)) || mlir::failed(lower_bodies(kernels, avx2))) return mlir::failure();
      return print_text(kernels);
    }
    if (stage == "llvm") return print_code(kernels, *options, request.objects, EmitAs::kLlvmIr);
    if (stage == "asm") return print_code(kernels, *options, request.objects, EmitAs::kAssembly);
    if (stage != "elf") return Target::show(request, stage);
    mlir::FailureOr<Variant> variant = build_executable(kernels, *options, request.objects);
    if (mlir::failed(variant)) return mlir::failure();
    return std::string(variant->bytes.begin(), variant->bytes.end());
  }

  mlir::FailureOr<Variant> embed(const EmbedRequest& request) const override {
    std::vector<EntryPoint> kernels;
    for (const codegen::EntryPoint& each : request.entry_points) kernels.push_back({each});
    const mlir::FailureOr<TargetOptions> options = options_of(request.target, request.settings, request.location);
    if (mlir::failed(options)) return mlir::failure();
    return build_user_library(request.name, request.location, kernels, request.constant_count, *options,
                              request.objects);
  }
};

}  // namespace

const Target& target() {
  static const CpuTarget target;
  return target;
}

}  // namespace cpu
}  // namespace baton::compiler_lite::codegen
