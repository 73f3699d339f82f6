#include "compiler-lite/schedule/executable_sources.hpp"

#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/schedule/device_groups.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/outline.hpp"
#include "compiler-lite/schedule/stream_kernels.hpp"
#include "compiler-lite/schedule/target_code.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::success;

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

ModuleOp inner_module(mlir::Region& body) {
  for (mlir::Operation& op : body.getOps()) {
    if (auto module = llvm::dyn_cast<ModuleOp>(op)) return module;
  }
  return {};
}

// Targets of what `objects` brings for a backend and a format that are asked for, where those are other architectures: code
// for sm_90, where code for sm_75 is generated.
SmallVector<hal::ExecutableTargetAttr> other_architectures(hal::ExecutableObjectsAttr objects,
                                                           llvm::ArrayRef<hal::ExecutableTargetAttr> asked) {
  SmallVector<hal::ExecutableTargetAttr> found;
  for (const mlir::Attribute each : objects.getTargets()) {
    const auto target = llvm::cast<hal::ExecutableTargetAttr>(each);
    const bool is_asked = llvm::any_of(asked, [&](hal::ExecutableTargetAttr one) {
      return one.getBackend() == target.getBackend() && one.getFormat() == target.getFormat();
    });
    if (is_asked) found.push_back(target);
  }
  return found;
}

// Exports say how many threads a workgroup has; code generators read it at the entry point.
void copy_workgroup_size(mlir::Operation* entry, StringRef name, ModuleOp kernels) {
  const mlir::Attribute size = entry->getAttr("workgroup_size");
  auto function = kernels.lookupSymbol<mlir::func::FuncOp>(name);
  if (size && function) function->setAttr("workgroup_size", size);
}

SmallVector<hal::ExecutableObjectAttr> objects_in(mlir::ArrayAttr list) {
  SmallVector<hal::ExecutableObjectAttr> objects;
  for (const mlir::Attribute each : list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    if (const auto object = llvm::dyn_cast<hal::ExecutableObjectAttr>(each)) objects.push_back(object);
  }
  return objects;
}

class Sources {
 public:
  Sources(ModuleOp program, std::vector<hal::ExecutableTargetAttr> targets, const codegen::TargetSettings& settings,
          Executables& executables)
      : program_(program), targets_(std::move(targets)), code_(targets_, settings), executables_(executables) {}

  LogicalResult compile() {
    for (mlir::Operation& op : llvm::make_early_inc_range(program_.getOps())) {
      LogicalResult result = success();
      if (auto stream = llvm::dyn_cast<stream::ExecutableOp>(op)) result = compile_stream(stream);
      if (auto source = llvm::dyn_cast<hal::ExecutableSourceOp>(op)) result = compile_source(source);
      if (auto executable = llvm::dyn_cast<hal::ExecutableOp>(op)) result = compile_hal(executable);
      if (failed(result)) return failure();
    }
    for (ModuleOp groups : group_modules(program_)) {
      if (failed(compile_groups(groups))) return failure();
    }
    return success();
  }

 private:
  LogicalResult compile_groups(ModuleOp groups);
  LogicalResult compile_stream(stream::ExecutableOp source);
  LogicalResult compile_source(hal::ExecutableSourceOp op);
  LogicalResult compile_hal(hal::ExecutableOp op);
  LogicalResult compile_group_kernels(Executable& executable, ModuleOp groups,
                                      llvm::ArrayRef<hal::ExecutableTargetAttr> all, codegen::Tiling tiling);
  LogicalResult compile_copy(Executable& executable, ModuleOp kernels, const TargetCode::Source& source);
  LogicalResult add_exports(Executable& executable, mlir::Region& body);

  ModuleOp program_;
  std::vector<hal::ExecutableTargetAttr> targets_;
  TargetCode code_;
  Executables& executables_;
};

// `kernels` stays as it is, for the next target.
LogicalResult Sources::compile_copy(Executable& executable, ModuleOp kernels, const TargetCode::Source& source) {
  mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
  return code_.compile(executable, *copy, source);
}

// Variants of one executable agree about their exports; the first one says it.
LogicalResult Sources::add_exports(Executable& executable, mlir::Region& body) {
  const mlir::Type truth = mlir::IntegerType::get(program_.getContext(), 1);
  SmallVector<std::pair<hal::ExecutableExportOp, EntryPoint*>> chosen_by_condition;
  for (auto entry : body.getOps<hal::ExecutableExportOp>()) {
    EntryPoint& added = executables_.add_entry_point(executable, entry.getSymName(), entry.getSymName());
    if (added.layout) continue;
    added.workgroup_count = &entry.getWorkgroupCount();
    added.layout = entry.getLayout();
    added.workgroup_size = entry->getAttrOfType<mlir::ArrayAttr>("workgroup_size");
    if (failed(read_local_memory(entry, added.local_memory_bytes))) return failure();
    if (entry.getCondition().empty()) continue;
    added.condition =
        outline_host_region(program_, executable.name + "." + added.name + ".condition", entry.getCondition(), truth);
    chosen_by_condition.push_back({entry, &added});
  }
  for (auto& [op, entry] : chosen_by_condition) {
    const std::optional<StringRef> name = op.getConditionFallback();
    entry->fallback = name ? executables_.find(executable.name, *name) : nullptr;
    if (!entry->fallback) return op.emitOpError("has a condition and no export beside it to fall back to");
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

LogicalResult Sources::compile_group_kernels(Executable& executable, ModuleOp groups,
                                             llvm::ArrayRef<hal::ExecutableTargetAttr> all, codegen::Tiling tiling) {
  SmallVector<hal::ExecutableTargetAttr> targets;
  for (const hal::ExecutableTargetAttr target : all) {
    const codegen::Target* kind = codegen::find_target(target);
    if (kind && kind->facts().tiling == tiling) targets.push_back(target);
  }
  if (targets.empty()) return success();
  mlir::OwningOpRef<ModuleOp> kernels = ModuleOp::create(groups.getLoc(), groups.getSymName());
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    mlir::FailureOr<codegen::Kernel> kernel = codegen::make_kernel(group, *kernels, tiling);
    if (failed(kernel)) return failure();
    const codegen::Kernel& made = executables_.add_kernel(std::move(*kernel));
    EntryPoint& entry = executables_.add_entry_point(executable, made.name, group.getSymName());
    (entry.kernel ? entry.block_kernel : entry.kernel) = &made;
    if (entry.block_kernel) entry.blocks_global = "blocks." + executable.name;
  }
  for (const hal::ExecutableTargetAttr target : targets) {
    if (failed(compile_copy(executable, *kernels, {.target = target, .beside = all}))) return failure();
  }
  return success();
}

LogicalResult Sources::compile_groups(ModuleOp groups) {
  const std::vector<hal::ExecutableTargetAttr> targets = targets_of_groups(groups, targets_);
  Executable& executable = executables_.add(groups.getSymName().value(), groups.getLoc());
  if (failed(compile_group_kernels(executable, groups, targets, codegen::Tiling::kCores)) ||
      failed(compile_group_kernels(executable, groups, targets, codegen::Tiling::kBlocks))) {
    return failure();
  }
  if (!executable.variants.empty()) return success();
  return mlir::emitError(groups.getLoc(), "Tensor operations of the program need code for ")
         << targets.front() << "; code is generated for " << codegen::generated_targets() << ".";
}

LogicalResult Sources::compile_stream(stream::ExecutableOp source) {
  Executable& executable = executables_.add(source.getSymName(), source.getLoc());
  SmallVector<StringRef> names;
  for (auto entry : source.getBody().getOps<stream::ExecutableExportOp>()) {
    names.push_back(entry.getSymName());
    EntryPoint& added = executables_.add_entry_point(executable, entry.getSymName(),
                                                     entry.getExportName().value_or(entry.getSymName()));
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
    if (!codegen::find_target(target)) continue;
    mlir::OwningOpRef<ModuleOp> copy = kernels.clone();
    if (failed(lower_stream_kernels(*copy, names))) return failure();
    TargetCode::Source code{target};
    if (objects) code.objects = objects.objects_for(target);
    collect_inner_objects(kernels, target, code.objects);
    if (failed(code_.compile(executable, *copy, code))) return failure();
  }
  if (!executable.variants.empty()) return success();
  return source.emitOpError("needs code for ")
         << targets_.front() << "; code is generated for " << codegen::generated_targets();
}

LogicalResult Sources::compile_source(hal::ExecutableSourceOp op) {
  Executable& executable = executables_.add(op.getSymName(), op.getLoc());
  mlir::FailureOr<HostCode> host = outline_host_code(program_, executable.name, op.getBody());
  if (failed(host) || failed(add_exports(executable, op.getBody()))) return failure();
  ModuleOp kernels = inner_module(op.getBody());
  for (auto entry : op.getBody().getOps<hal::ExecutableExportOp>()) {
    if (kernels) copy_workgroup_size(entry, entry.getSymName(), kernels);
  }
  const auto objects = op.getObjects();
  const auto embed = [&](hal::ExecutableTargetAttr target) {
    TargetCode::Source code{target, {}, *host, &op.getBody()};
    if (objects) code.objects = objects->objects_for(target);
    return code_.embed(executable, code);
  };
  for (const hal::ExecutableTargetAttr target : targets_) {
    if (!kernels) {
      if (failed(embed(target))) return failure();
      continue;
    }
    if (!codegen::find_target(target)) continue;
    TargetCode::Source code{target, {}, *host, &op.getBody()};
    if (objects) code.objects = objects->objects_for(target);
    collect_inner_objects(kernels, target, code.objects);
    if (failed(compile_copy(executable, kernels, code))) return failure();
  }
  if (objects && !kernels && executable.variants.empty()) {
    for (const hal::ExecutableTargetAttr target : other_architectures(*objects, targets_)) {
      if (failed(embed(target))) return failure();
    }
  }
  if (objects && executable.variants.empty()) {
    return op.emitOpError("has no objects for ") << targets_.front();
  }
  return success();
}

LogicalResult Sources::compile_hal(hal::ExecutableOp op) {
  Executable& executable = executables_.add(op.getSymName(), op.getLoc());
  if (const auto name = op->getAttrOfType<mlir::StringAttr>(kRegisteredName)) executable.registered_name = name.str();
  for (auto variant : op.getBody().getOps<hal::ExecutableVariantOp>()) {
    mlir::FailureOr<HostCode> host =
        outline_host_code(program_, executable.name + "." + variant.getSymName().str(), variant.getBody());
    if (failed(host) || failed(add_exports(executable, variant.getBody()))) return failure();
    TargetCode::Source code{variant.getTarget(), objects_in(variant.getObjectsAttr()), *host, &variant.getBody()};
    ModuleOp kernels = inner_module(variant.getBody());
    if (!kernels) {
      if (failed(code_.embed(executable, code))) return failure();
      continue;
    }
    if (!codegen::find_target(variant.getTarget())) {
      variant.emitWarning("No code is generated for ") << variant.getTarget() << "; the variant is left out.";
      continue;
    }
    for (auto entry : variant.getBody().getOps<hal::ExecutableExportOp>()) {
      copy_workgroup_size(entry, entry.getSymName(), kernels);
    }
    collect_inner_objects(kernels, variant.getTarget(), code.objects);
    if (failed(compile_copy(executable, kernels, code))) return failure();
  }
  return success();
}

}  // namespace

std::vector<hal::ExecutableTargetAttr> find_targets(ModuleOp program, const ScheduleOptions& options) {
  const placement::Devices devices(program);
  if (!devices.several()) return program_targets(program, options);
  std::vector<hal::ExecutableTargetAttr> targets;
  for (unsigned i = 0; i < devices.count(); ++i) {
    for (const hal::ExecutableTargetAttr each : targets_of_device(program, devices[i], options)) {
      if (!llvm::is_contained(targets, each)) targets.push_back(each);
    }
  }
  return targets;
}

std::vector<hal::ExecutableTargetAttr> program_targets(ModuleOp program, const ScheduleOptions& options) {
  std::vector<hal::ExecutableTargetAttr> targets = options.targets;
  if (const auto devices = program->getAttrOfType<mlir::ArrayAttr>("hal.device.targets"); devices && targets.empty()) {
    for (const mlir::Attribute each : devices) {
      const auto device = llvm::dyn_cast<hal::DeviceTargetAttr>(each);
      if (!device) continue;
      for (const hal::ExecutableTargetAttr target : device.getTargets()) {
        if (!llvm::is_contained(targets, target)) targets.push_back(target);
      }
    }
  }
  if (targets.empty()) targets.push_back(codegen::all_targets().front()->usual(program.getContext(), options.settings));
  return targets;
}

LogicalResult compile_executables(ModuleOp program, const ScheduleOptions& options, Executables& executables) {
  return Sources(program, find_targets(program, options), options.settings, executables).compile();
}

void erase_sources(ModuleOp program, const Executables& executables) {
  for (const std::unique_ptr<Executable>& executable : executables.all()) {
    for (EntryPoint* entry : executable->entry_points) entry->workgroup_count = nullptr;
  }
  for (ModuleOp groups : group_modules(program)) groups.erase();
  for (mlir::Operation& op : llvm::make_early_inc_range(program.getOps())) {
    if (llvm::isa<stream::ExecutableOp, hal::ExecutableSourceOp, hal::ExecutableOp>(op)) op.erase();
  }
}

}  // namespace baton::compiler_lite::schedule
