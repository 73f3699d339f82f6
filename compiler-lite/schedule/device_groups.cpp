#include "compiler-lite/schedule/device_groups.hpp"

#include "compiler-lite/codegen/target_of_device.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/schedule/executable_sources.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "llvm/ADT/StringSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::ModuleOp;
using Targets = std::vector<hal::ExecutableTargetAttr>;

constexpr llvm::StringLiteral kTargets = "hal.executable.targets";

void add(Targets& targets, hal::ExecutableTargetAttr target) {
  if (target && !llvm::is_contained(targets, target)) targets.push_back(target);
}

// The module for the groups of a device, beside that of the first one.
ModuleOp module_for(ModuleOp program, llvm::StringRef device, const Targets& targets) {
  const std::string name = (kGroupModule + "_on_" + device).str();
  if (auto existing = program.lookupSymbol<ModuleOp>(name)) return existing;
  auto builder = mlir::OpBuilder::atBlockEnd(program.getBody());
  auto made = builder.create<ModuleOp>(program.getLoc(), name);
  made.setVisibility(mlir::SymbolTable::Visibility::Private);
  made->setAttr(kTargets, builder.getArrayAttr(SmallVector<mlir::Attribute>(targets.begin(), targets.end())));
  return made;
}

mlir::SymbolRefAttr entry_of(flow::DispatchOp dispatch) {
  return llvm::cast<mlir::SymbolRefAttr>(dispatch.getEntryPoints()[0]);
}

void move_group(ModuleOp groups, ModuleOp target, flow::DispatchOp dispatch) {
  const mlir::StringAttr name = entry_of(dispatch).getLeafReference();
  if (!target.lookupSymbol(name)) target.push_back(groups.lookupSymbol(name)->clone());
  const auto moved =
      mlir::SymbolRefAttr::get(target.getSymNameAttr(), {mlir::FlatSymbolRefAttr::get(dispatch.getContext(), name)});
  dispatch.setEntryPointsAttr(mlir::ArrayAttr::get(dispatch.getContext(), {moved}));
}

}  // namespace

Targets targets_of_device(ModuleOp program, const placement::NamedDevice& device, const ScheduleOptions& options) {
  Targets targets(device.targets.begin(), device.targets.end());
  if (!targets.empty()) return targets;
  for (const llvm::StringRef name : device.kinds()) {
    const codegen::Target* kind = codegen::find_target_of_device(name);
    const size_t before = targets.size();
    for (const hal::ExecutableTargetAttr each : kind ? options.targets : program_targets(program, options)) {
      if (!kind || kind->takes(each)) add(targets, each);
    }
    if (targets.size() == before && kind) add(targets, kind->usual(program.getContext(), options.settings));
  }
  return targets;
}

void split_groups(ModuleOp program, const placement::Devices& devices, const placement::Assignment& assignment,
                  const ScheduleOptions& options) {
  auto groups = program.lookupSymbol<ModuleOp>(kGroupModule);
  if (!groups || !devices.several()) return;
  SmallVector<Targets> targets;
  for (unsigned i = 0; i < devices.count(); ++i) targets.push_back(targets_of_device(program, devices[i], options));
  const SmallVector<mlir::Attribute> first(targets[0].begin(), targets[0].end());
  groups->setAttr(kTargets, mlir::ArrayAttr::get(program.getContext(), first));
  llvm::StringSet<> kept;
  program.walk([&](flow::DispatchOp dispatch) {
    if (entry_of(dispatch).getRootReference() != kGroupModule) return;
    const unsigned number = assignment.of(dispatch);
    const auto same = static_cast<size_t>(llvm::find(targets, targets[number]) - targets.begin());
    if (same == 0) {
      kept.insert(entry_of(dispatch).getLeafReference());
    } else {
      move_group(groups, module_for(program, devices[static_cast<unsigned>(same)].name, targets[same]), dispatch);
    }
  });
  for (auto group : llvm::make_early_inc_range(groups.getOps<mlir::func::FuncOp>())) {
    if (!kept.contains(group.getSymName())) group.erase();
  }
  if (groups.getBody()->empty()) groups.erase();
}

SmallVector<ModuleOp> group_modules(ModuleOp program) {
  SmallVector<ModuleOp> modules;
  for (auto each : program.getOps<ModuleOp>()) {
    if (each.getSymName() == kGroupModule || each->hasAttr(kTargets)) modules.push_back(each);
  }
  return modules;
}

Targets targets_of_groups(ModuleOp groups, const Targets& otherwise) {
  const auto said = groups->getAttrOfType<mlir::ArrayAttr>(kTargets);
  if (!said) return otherwise;
  const auto range = said.getAsRange<hal::ExecutableTargetAttr>();
  return {range.begin(), range.end()};
}

ExecutableUses uses_of_executables(ModuleOp program, const placement::Assignment& assignment) {
  ExecutableUses uses;
  program.walk([&](flow::DispatchOp dispatch) {
    SmallVector<unsigned>& devices = uses[entry_of(dispatch).getRootReference()];
    const unsigned number = assignment.of(dispatch);
    if (!llvm::is_contained(devices, number)) devices.push_back(number);
  });
  return uses;
}

}  // namespace baton::compiler_lite::schedule
