#include "compiler-lite/schedule/executables.hpp"

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/cpu/user_library.hpp"
#include "compiler-lite/codegen/cuda/executable.hpp"
#include "compiler-lite/codegen/cuda/target.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/objects.hpp"
#include "compiler-lite/schedule/outline.hpp"
#include "compiler-lite/schedule/stream_kernels.hpp"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite {
namespace {

using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::success;
using mlir::Value;

constexpr StringRef kCpuFormats[] = {"embedded-elf-x86_64", "embedded-elf-arm_64"};

bool is_cpu(hal::ExecutableTargetAttr target) {
  return target.getBackend().getValue() == "llvm-cpu" && llvm::is_contained(kCpuFormats, target.getFormat().getValue());
}

bool is_cuda(hal::ExecutableTargetAttr target) { return target.getBackend().getValue() == "cuda"; }
// "sm_80" of a target for CUDA.
std::string arch_of(hal::ExecutableTargetAttr target) {
  const mlir::DictionaryAttr configuration = target.getConfiguration();
  const auto arch = configuration ? configuration.getAs<mlir::StringAttr>("target_arch") : mlir::StringAttr();
  return arch ? arch.str() : codegen::cuda::kDefaultArch.str();
}
bool is_generated(hal::ExecutableTargetAttr target) { return is_cpu(target) || is_cuda(target); }

constexpr StringRef kGeneratedTargets =
    "llvm-cpu with the formats embedded-elf-x86_64 and embedded-elf-arm_64, and for cuda";

hal::ExecutableTargetAttr host_target(mlir::MLIRContext* context) {
  const bool is_arm = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64();
  return hal::ExecutableTargetAttr::get(context, mlir::StringAttr::get(context, "llvm-cpu"),
                                        mlir::StringAttr::get(context, kCpuFormats[is_arm ? 1 : 0]), {});
}

// Object files that operations inside name, which are linked with what calls them.
void collect_inner_objects(mlir::Operation* root, hal::ExecutableTargetAttr target,
                           SmallVector<hal::ExecutableObjectAttr>& objects) {
  root->walk([&](mlir::Operation* op) {
    const auto inner = op->getAttrOfType<hal::ExecutableObjectsAttr>("hal.executable.objects");
    if (!inner) return;
    for (const hal::ExecutableObjectAttr object : inner.objects_for(target)) {
      if (!llvm::is_contained(objects, object)) objects.push_back(object);
    }
  });
}

// A binary of CUDA whose format names nothing but that: what its first bytes say it is, for its target's architecture.
std::string format_of_binary(hal::ExecutableTargetAttr target, llvm::ArrayRef<char> bytes) {
  if (target.getFormat().getValue() != "cuda-nvptx-fb") return target.getFormat().str();
  const StringRef code(bytes.data(), bytes.size());
  if (code.starts_with("\x50\xed\x55\xba")) return "cuda-fatbin";
  const mlir::DictionaryAttr configuration = target.getConfiguration();
  const auto arch = configuration ? configuration.getAs<mlir::StringAttr>("target_arch") : mlir::StringAttr();
  if (!arch || !arch.getValue().starts_with("sm_")) return target.getFormat().str();
  if (code.starts_with("\x7f"
                       "ELF"))
    return "cuda-" + arch.str();
  return "cuda-ptx-compute_" + arch.getValue().drop_front(3).str();
}

ModuleOp inner_module(mlir::Region& body) {
  for (mlir::Operation& op : body.getOps()) {
    if (auto module = llvm::dyn_cast<ModuleOp>(op)) return module;
  }
  return {};
}

// Exports say how many threads a workgroup has; code generators read it at the entry point.
void copy_workgroup_size(mlir::Operation* entry, StringRef name, ModuleOp kernels) {
  const mlir::Attribute size = entry->getAttr("workgroup_size");
  auto function = kernels.lookupSymbol<mlir::func::FuncOp>(name);
  if (size && function) function->setAttr("workgroup_size", size);
}

std::string symbol_text(StringRef executable, StringRef entry) { return (executable + "." + entry).str(); }

SmallVector<hal::ExecutableObjectAttr> objects_in(mlir::ArrayAttr list) {
  SmallVector<hal::ExecutableObjectAttr> objects;
  for (const mlir::Attribute each : list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    if (const auto object = llvm::dyn_cast<hal::ExecutableObjectAttr>(each)) objects.push_back(object);
  }
  return objects;
}

codegen::cpu::TargetOptions cpu_options(hal::ExecutableTargetAttr target, const ScheduleOptions& given) {
  codegen::cpu::TargetOptions options;
  options.architecture = target.getFormat().getValue() == "embedded-elf-arm_64" ? codegen::cpu::Architecture::kAarch64
                                                                                : codegen::cpu::Architecture::kX86_64;
  options.object_search_paths = given.object_search_paths;
  return options;
}

std::vector<codegen::Object> object_files(llvm::ArrayRef<hal::ExecutableObjectAttr> objects, Location location) {
  std::vector<codegen::Object> files;
  for (const hal::ExecutableObjectAttr object : objects) {
    codegen::Object file{object.getPath().str(), {}, location};
    if (object.getData()) file.data = bytes_of(object.getData());
    files.push_back(std::move(file));
  }
  return files;
}

LogicalResult refuse_constants(StringRef executable, Location location, hal::ExecutableTargetAttr target) {
  return mlir::emitError(location, "The executable '") << executable << "' has constants that its code for " << target
                                                       << " gets when it is loaded; code for llvm-cpu "
                                                       << "takes them.";
}

// What the table of a user's kernels says of one, as the program calls it.
codegen::cpu::EntryPoint user_kernel(const EntryPoint& entry) {
  codegen::cpu::EntryPoint kernel{entry.name};
  kernel.constant_count = static_cast<unsigned>(entry.layout.getConstants());
  kernel.binding_count = static_cast<unsigned>(entry.layout.getBindings().size());
  kernel.local_memory_bytes = static_cast<unsigned>(entry.local_memory_bytes);
  for (unsigned i = 0; entry.workgroup_size && i < entry.workgroup_size.size() && i < 3; ++i) {
    kernel.workgroup_size[i] = static_cast<unsigned>(llvm::cast<mlir::IntegerAttr>(entry.workgroup_size[i]).getInt());
  }
  return kernel;
}

}  // namespace

LogicalResult Executables::find_targets() {
  targets_ = options_.targets;
  if (const auto devices = module_->getAttrOfType<mlir::ArrayAttr>("hal.device.targets"); devices && targets_.empty()) {
    for (const mlir::Attribute each : devices) {
      const auto device = llvm::dyn_cast<hal::DeviceTargetAttr>(each);
      if (!device) continue;
      for (const hal::ExecutableTargetAttr target : device.getTargets()) {
        if (!llvm::is_contained(targets_, target)) targets_.push_back(target);
      }
    }
  }
  if (targets_.empty()) targets_.push_back(host_target(module_.getContext()));
  return success();
}

LogicalResult Executables::compile() {
  if (failed(find_targets())) return failure();
  for (mlir::Operation& op : llvm::make_early_inc_range(module_.getOps())) {
    LogicalResult result = success();
    if (llvm::isa<stream::ExecutableOp>(op)) result = compile_stream(&op);
    if (auto source = llvm::dyn_cast<hal::ExecutableSourceOp>(op)) result = compile_source(source);
    if (auto executable = llvm::dyn_cast<hal::ExecutableOp>(op)) result = compile_hal(executable);
    if (failed(result)) return failure();
  }
  return compile_groups();
}

Executables::Executable& Executables::add_executable(StringRef name, Location location) {
  executables_.push_back(std::make_unique<Executable>(Executable{name.str(), location}));
  return *executables_.back();
}

EntryPoint& Executables::add_entry_point(Executable& executable, StringRef name, StringRef key) {
  const std::string symbol = symbol_text(executable.name, key);
  std::unique_ptr<EntryPoint>& entry = entry_points_[symbol];
  if (entry) return *entry;
  entry = std::make_unique<EntryPoint>();
  entry->name = name.str();
  entry->executable_global = "executable." + executable.name;
  entry->ordinal_global = "entry_point." + symbol;
  executable.entry_points.push_back(entry.get());
  return *entry;
}

const EntryPoint* Executables::find(mlir::SymbolRefAttr symbol) const {
  if (symbol.getNestedReferences().empty()) return nullptr;
  const auto found =
      entry_points_.find(symbol_text(symbol.getRootReference().getValue(), symbol.getLeafReference().getValue()));
  return found == entry_points_.end() ? nullptr : found->second.get();
}

// Those for cores come before those of other kinds of devices, so that a number tells them apart.
void Executables::add_core_variant(Executable& executable, Blob variant) {
  executable.variants.insert(executable.variants.begin() + static_cast<ptrdiff_t>(executable.core_variants++),
                             std::move(variant));
}

LogicalResult Executables::compile_module(Executable& executable, ModuleOp kernels, hal::ExecutableTargetAttr target,
                                          llvm::ArrayRef<hal::ExecutableObjectAttr> objects, const HostCode& host,
                                          mlir::Region* exports) {
  const std::vector<codegen::Object> files = object_files(objects, executable.location);
  if (!kernels.getSymName()) kernels.setSymName(executable.name);
  if (failed(number_constant_loads(kernels, host))) return failure();
  if (is_cuda(target)) return compile_for_cuda(executable, kernels, target, files, host, exports);
  mlir::FailureOr<codegen::cpu::Variant> variant =
      codegen::cpu::build_executable(kernels, cpu_options(target, options_), files);
  if (failed(variant)) return failure();
  add_core_variant(executable, {std::move(variant->format), std::move(variant->bytes), host});
  return success();
}

LogicalResult Executables::compile_for_cuda(Executable& executable, ModuleOp kernels, hal::ExecutableTargetAttr target,
                                            llvm::ArrayRef<codegen::Object> objects, const HostCode& host,
                                            mlir::Region* exports) {
  if (!host.keys.empty()) return refuse_constants(executable.name, executable.location, target);
  codegen::cuda::TargetOptions options;
  options.object_search_paths = options_.object_search_paths;
  options.libdevice = options_.cuda_libdevice;
  options.arch = arch_of(target);
  const bool is_default = options.arch.empty() || options.arch == codegen::cuda::kDefaultArch;
  if (objects.empty() && is_default && !has_newer_cuda() && codegen::cuda::wants_newer_code(kernels)) {
    codegen::cuda::TargetOptions newer = options;
    newer.arch = codegen::cuda::kNewerArch.str();
    mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
    if (failed(add_cuda_variant(executable, *copy, newer, objects, host))) return failure();
  }
  if (failed(add_cuda_variant(executable, kernels, options, objects, host))) return failure();
  return exports ? add_stated(executable, *exports) : success();
}

// Whether the program says itself for what else there should be code.
bool Executables::has_newer_cuda() const {
  return llvm::any_of(targets_, [](hal::ExecutableTargetAttr target) {
    return is_cuda(target) && arch_of(target) != codegen::cuda::kDefaultArch;
  });
}

LogicalResult Executables::add_cuda_variant(Executable& executable, ModuleOp kernels,
                                            const codegen::cuda::TargetOptions& options,
                                            llvm::ArrayRef<codegen::Object> objects, const HostCode& host) {
  mlir::FailureOr<codegen::cuda::Variant> variant = codegen::cuda::build_executable(kernels, options, objects);
  if (failed(variant)) return failure();
  executable.variants.push_back({variant->format, std::vector<char>(variant->ptx.begin(), variant->ptx.end()), host});
  const std::vector<Launch> before = std::move(executable.launches);
  executable.launches.clear();
  for (const codegen::cuda::EntryPoint& entry : variant->entry_points) {
    Launch launch{entry.name, entry.constant_count, entry.binding_count};
    std::copy(std::begin(entry.workgroup_size), std::end(entry.workgroup_size), launch.workgroup_size);
    for (const Launch& other : before) {
      if (other.name == launch.name) launch.local_memory = other.local_memory;
    }
    launch.local_memory.push_back({variant->format, entry.local_memory_bytes});
    executable.launches.push_back(std::move(launch));
  }
  return success();
}

// What exports say beyond what the generated code says itself.
LogicalResult Executables::add_stated(Executable& executable, mlir::Region& exports) {
  mlir::FailureOr<std::vector<Launch>> stated = launches_of(exports);
  if (failed(stated)) return failure();
  for (Launch& said : *stated) {
    for (Launch& launch : executable.launches) {
      if (launch.name != said.name) continue;
      launch.local_memory_bytes = std::max(launch.local_memory_bytes, said.local_memory_bytes);
      launch.attributes = std::move(said.attributes);
    }
  }
  return success();
}

LogicalResult Executables::embed_for_cpu(Executable& executable, hal::ExecutableTargetAttr target,
                                         llvm::ArrayRef<hal::ExecutableObjectAttr> objects, const HostCode& host) {
  std::vector<codegen::cpu::EntryPoint> kernels;
  for (const EntryPoint* entry : executable.entry_points) kernels.push_back(user_kernel(*entry));
  mlir::FailureOr<codegen::cpu::Variant> variant = codegen::cpu::build_user_library(
      executable.name, executable.location, kernels, static_cast<unsigned>(host.keys.size()),
      cpu_options(target, options_), object_files(objects, executable.location));
  if (failed(variant)) return failure();
  add_core_variant(executable, {std::move(variant->format), std::move(variant->bytes), host});
  return success();
}

LogicalResult Executables::embed(Executable& executable, hal::ExecutableTargetAttr target,
                                 llvm::ArrayRef<hal::ExecutableObjectAttr> objects, mlir::Region& exports,
                                 const HostCode& host) {
  if (objects.empty()) {
    mlir::FailureOr<std::vector<Launch>> launches = launches_of(exports);
    if (failed(launches)) return failure();
    // What a GPU needs to know is worth more.
    if (executable.registered_launches.empty() || !is_cpu(target))
      executable.registered_launches = std::move(*launches);
    return success();
  }
  if (is_cpu(target)) return embed_for_cpu(executable, target, objects, host);
  if (!host.keys.empty()) return refuse_constants(executable.name, executable.location, target);
  if (objects.size() != 1) {
    return mlir::emitError(executable.location, "The executable '")
           << executable.name << "' has " << objects.size() << " objects for " << target
           << "; one that isn't compiled from an inner module is exactly one binary.";
  }
  mlir::FailureOr<std::vector<char>> bytes = read_object(objects[0], executable.location, options_.object_search_paths);
  if (failed(bytes)) return failure();
  executable.variants.push_back({format_of_binary(target, *bytes), std::move(*bytes), host});
  mlir::FailureOr<std::vector<Launch>> launches = launches_of(exports);
  if (failed(launches)) return failure();
  executable.launches = std::move(*launches);
  return success();
}

mlir::FailureOr<std::vector<Executables::Launch>> Executables::launches_of(mlir::Region& exports) {
  std::vector<Launch> launches;
  for (auto entry : exports.getOps<hal::ExecutableExportOp>()) {
    Launch launch{entry.getSymName().str(), entry.getLayout().getConstants(),
                  static_cast<int64_t>(entry.getLayout().getBindings().size())};
    unsigned size[3] = {1, 1, 1};
    codegen::read_workgroup_size(entry, size);
    std::copy(std::begin(size), std::end(size), launch.workgroup_size);
    if (failed(read_local_memory(entry, launch.local_memory_bytes)) ||
        failed(read_launch_attributes(entry, launch.attributes))) {
      return failure();
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

// Variants of one executable agree about their exports; the first one says it.
LogicalResult Executables::add_exports(Executable& executable, mlir::Region& body) {
  const mlir::Type truth = mlir::IntegerType::get(module_.getContext(), 1);
  SmallVector<std::pair<hal::ExecutableExportOp, EntryPoint*>> chosen_by_condition;
  for (auto entry : body.getOps<hal::ExecutableExportOp>()) {
    EntryPoint& added = add_entry_point(executable, entry.getSymName(), entry.getSymName());
    if (added.layout) continue;
    added.workgroup_count = &entry.getWorkgroupCount();
    added.layout = entry.getLayout();
    added.workgroup_size = entry->getAttrOfType<mlir::ArrayAttr>("workgroup_size");
    if (failed(read_local_memory(entry, added.local_memory_bytes))) return failure();
    if (entry.getCondition().empty()) continue;
    added.condition = outline_host_region(module_, symbol_text(executable.name, added.name) + ".condition",
                                          entry.getCondition(), truth);
    chosen_by_condition.push_back({entry, &added});
  }
  for (auto& [op, entry] : chosen_by_condition) {
    const std::optional<StringRef> name = op.getConditionFallback();
    const auto found = entry_points_.find(symbol_text(executable.name, name.value_or("")));
    if (!name || found == entry_points_.end()) {
      return op.emitOpError("has a condition and no export beside it to fall back to");
    }
    entry->fallback = found->second.get();
    if (entry->fallback->layout != entry->layout) {
      return op.emitOpError("falls back to @") << *name << ", whose layout is another one";
    }
  }
  for (const auto& [op, entry] : chosen_by_condition) {
    size_t steps = 0;
    for (const EntryPoint* next = entry; next; next = next->fallback) {
      if (++steps > executable.entry_points.size()) return op->emitOpError("falls back to itself");
    }
  }
  return success();
}

LogicalResult Executables::compile_group_kernels(Executable& executable, ModuleOp groups, codegen::Tiling tiling) {
  const bool blocks = tiling == codegen::Tiling::kBlocks;
  SmallVector<hal::ExecutableTargetAttr> targets;
  for (const hal::ExecutableTargetAttr target : targets_) {
    if (blocks ? is_cuda(target) : is_cpu(target)) targets.push_back(target);
  }
  if (targets.empty()) return success();
  mlir::OwningOpRef<ModuleOp> kernels = ModuleOp::create(groups.getLoc(), kGroupModule);
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    mlir::FailureOr<codegen::Kernel> kernel = codegen::make_kernel(group, *kernels, tiling);
    if (failed(kernel)) return failure();
    kernels_.push_back(std::make_unique<codegen::Kernel>(std::move(*kernel)));
    EntryPoint& entry = add_entry_point(executable, kernels_.back()->name, group.getSymName());
    (entry.kernel ? entry.block_kernel : entry.kernel) = kernels_.back().get();
    if (entry.block_kernel) entry.blocks_global = "blocks." + executable.name;
  }
  for (const hal::ExecutableTargetAttr target : targets) {
    mlir::OwningOpRef<ModuleOp> copy = kernels->clone();
    if (failed(compile_module(executable, *copy, target, {}))) return failure();
  }
  return success();
}

LogicalResult Executables::compile_groups() {
  auto groups = module_.lookupSymbol<ModuleOp>(kGroupModule);
  if (!groups) return success();
  Executable& executable = add_executable(kGroupModule, groups.getLoc());
  if (failed(compile_group_kernels(executable, groups, codegen::Tiling::kCores)) ||
      failed(compile_group_kernels(executable, groups, codegen::Tiling::kBlocks))) {
    return failure();
  }
  if (!executable.variants.empty()) return success();
  return mlir::emitError(groups.getLoc(), "Tensor operations of the program need code for ")
         << targets_.front() << "; code is generated for " << kGeneratedTargets << ".";
}

LogicalResult Executables::compile_stream(mlir::Operation* op) {
  auto source = llvm::cast<stream::ExecutableOp>(op);
  Executable& executable = add_executable(source.getSymName(), source.getLoc());
  SmallVector<StringRef> names;
  for (auto entry : source.getBody().getOps<stream::ExecutableExportOp>()) {
    names.push_back(entry.getSymName());
    EntryPoint& added =
        add_entry_point(executable, entry.getSymName(), entry.getExportName().value_or(entry.getSymName()));
    added.workgroup_count = &entry.getWorkgroupCount();
  }
  ModuleOp kernels = inner_module(source.getBody());
  if (!kernels) return success();  // Looked up by name.
  for (const StringRef name : names) {
    if (!kernels.lookupSymbol<mlir::func::FuncOp>(name)) {
      return source.emitOpError("exports @") << name << ", which its module doesn't define";
    }
  }
  const auto objects = source->getAttrOfType<hal::ExecutableObjectsAttr>("hal.executable.objects");
  for (const hal::ExecutableTargetAttr target : targets_) {
    if (!is_generated(target)) continue;
    mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
    if (failed(lower_stream_kernels(*copy, names))) return failure();
    SmallVector<hal::ExecutableObjectAttr> linked;
    if (objects) linked = objects.objects_for(target);
    collect_inner_objects(kernels, target, linked);
    if (failed(compile_module(executable, *copy, target, linked))) return failure();
  }
  if (!executable.variants.empty()) return success();
  return source.emitOpError("needs code for ") << targets_.front() << "; code is generated for " << kGeneratedTargets;
}

LogicalResult Executables::compile_source(hal::ExecutableSourceOp op) {
  Executable& executable = add_executable(op.getSymName(), op.getLoc());
  mlir::FailureOr<HostCode> host = outline_host_code(module_, executable.name, op.getBody());
  if (failed(host) || failed(add_exports(executable, op.getBody()))) return failure();
  ModuleOp kernels = inner_module(op.getBody());
  for (auto entry : op.getBody().getOps<hal::ExecutableExportOp>()) {
    if (kernels) copy_workgroup_size(entry, entry.getSymName(), kernels);
  }
  const auto objects = op.getObjects();
  for (const hal::ExecutableTargetAttr target : targets_) {
    SmallVector<hal::ExecutableObjectAttr> linked;
    if (objects) linked = objects->objects_for(target);
    if (!kernels) {
      if (failed(embed(executable, target, linked, op.getBody(), *host))) return failure();
      continue;
    }
    if (!is_generated(target)) continue;
    mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
    collect_inner_objects(kernels, target, linked);
    if (failed(compile_module(executable, *copy, target, linked, *host, &op.getBody()))) return failure();
  }
  if (objects && executable.variants.empty()) {
    return op.emitOpError("has no objects for ") << targets_.front();
  }
  return success();
}

LogicalResult Executables::compile_hal(hal::ExecutableOp op) {
  Executable& executable = add_executable(op.getSymName(), op.getLoc());
  if (const auto name = op->getAttrOfType<mlir::StringAttr>(kRegisteredName)) executable.registered_name = name.str();
  for (auto variant : op.getBody().getOps<hal::ExecutableVariantOp>()) {
    mlir::FailureOr<HostCode> host =
        outline_host_code(module_, symbol_text(executable.name, variant.getSymName()), variant.getBody());
    if (failed(host) || failed(add_exports(executable, variant.getBody()))) return failure();
    SmallVector<hal::ExecutableObjectAttr> objects = objects_in(variant.getObjectsAttr());
    ModuleOp kernels = inner_module(variant.getBody());
    if (!kernels) {
      if (failed(embed(executable, variant.getTarget(), objects, variant.getBody(), *host))) return failure();
      continue;
    }
    if (!is_generated(variant.getTarget())) {
      variant.emitWarning("No code is generated for ") << variant.getTarget() << "; the variant is left out.";
      continue;
    }
    for (auto entry : variant.getBody().getOps<hal::ExecutableExportOp>()) {
      copy_workgroup_size(entry, entry.getSymName(), kernels);
    }
    mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
    collect_inner_objects(kernels, variant.getTarget(), objects);
    if (failed(compile_module(executable, *copy, variant.getTarget(), objects, *host, &variant.getBody())))
      return failure();
  }
  return success();
}

void Executables::erase_sources() {
  for (auto& entry : entry_points_) entry.second->workgroup_count = nullptr;
  for (mlir::Operation& op : llvm::make_early_inc_range(module_.getOps())) {
    auto nested = llvm::dyn_cast<ModuleOp>(op);
    if (llvm::isa<stream::ExecutableOp, hal::ExecutableSourceOp, hal::ExecutableOp>(op) ||
        (nested && nested.getSymName() == kGroupModule)) {
      op.erase();
    }
  }
}

}  // namespace baton::compiler_lite
