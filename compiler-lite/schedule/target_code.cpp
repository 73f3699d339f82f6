#include "compiler-lite/schedule/target_code.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/schedule/constant_bytes.hpp"
#include "llvm/ADT/StringExtras.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using llvm::StringRef;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

bool calls_cores(const codegen::Target* kind) { return kind && kind->facts().tiling == codegen::Tiling::kCores; }
bool takes_constants(const codegen::Target* kind) { return kind && kind->facts().takes_constants; }

LogicalResult refuse_constants(const Executable& executable, hal::ExecutableTargetAttr target) {
  SmallVector<StringRef> takers;
  for (const codegen::Target* each : codegen::all_targets()) {
    if (takes_constants(each)) takers.push_back(each->facts().backends.front().name);
  }
  return mlir::emitError(executable.location, "The executable '")
         << executable.name << "' has constants that its code for " << target << " gets when it is loaded; code for "
         << llvm::join(takers, " and ") << " takes them.";
}

LogicalResult refuse_sanitize(const Executable& executable, hal::ExecutableTargetAttr target) {
  SmallVector<StringRef> checkers;
  for (const codegen::Target* each : codegen::all_targets()) {
    if (each->facts().checks_accesses) checkers.push_back(each->facts().backends.front().name);
  }
  return mlir::emitError(executable.location, "The kernels of '")
         << executable.name << "' can't check their accesses on " << target << "; --sanitize is for "
         << llvm::join(checkers, " and ") << ".";
}

void explain_checks(const Executable& executable, const codegen::Variant& variant, std::string& explanation) {
  llvm::raw_string_ostream stream(explanation);
  if (const auto place = executable.location->findInstanceOf<mlir::FileLineColLoc>()) {
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  } else {
    stream << "(no line)";
  }
  stream << ": kernels of '" << executable.name << "' in " << variant.format << " check " << variant.check_count
         << (variant.check_count == 1 ? " access" : " accesses") << "\n";
}

std::vector<codegen::Object> object_files(const TargetCode::Source& source, mlir::Location location) {
  std::vector<codegen::Object> files;
  for (const hal::ExecutableObjectAttr object : source.objects) {
    codegen::Object file{object.getPath().str(), {}, location};
    if (object.getData()) file.data = bytes_of(object.getData());
    files.push_back(std::move(file));
  }
  return files;
}

// The last variant says which launches there are, each variant what its own code wants of them.
void add_launches(Executable& executable, const codegen::Variant& variant) {
  const std::vector<Launch> before = std::move(executable.launches);
  executable.launches.clear();
  for (const codegen::EntryPoint& entry : variant.entry_points) {
    Launch launch{entry.name, entry.constant_count, entry.binding_count};
    for (const Launch& other : before) {
      if (other.name == launch.name) launch.by_format = other.by_format;
    }
    bytecode::LaunchRow row;
    std::copy(std::begin(entry.workgroup_size), std::end(entry.workgroup_size), row.workgroup_size);
    row.local_memory_bytes = entry.local_memory_bytes;
    launch.by_format.push_back({variant.format, row});
    executable.launches.push_back(std::move(launch));
  }
}

// Puts variants for cores before those of other devices, so that a variant's number tells which kind it is.
void add_variant(Executable& executable, codegen::Variant variant, const HostCode& host, bool is_core) {
  if (!variant.entry_points.empty()) add_launches(executable, variant);
  const auto place = is_core ? executable.variants.begin() + static_cast<ptrdiff_t>(executable.core_variants++)
                             : executable.variants.end();
  executable.variants.insert(place,
                             {std::move(variant.format), std::move(variant.bytes), host, std::move(variant.target)});
}

mlir::FailureOr<std::vector<Launch>> launches_of(mlir::Region& exports) {
  std::vector<Launch> launches;
  for (auto entry : exports.getOps<hal::ExecutableExportOp>()) {
    Launch launch{entry.getSymName().str(), entry.getLayout().getConstants(),
                  static_cast<int64_t>(entry.getLayout().getBindings().size())};
    unsigned size[3] = {1, 1, 1};
    codegen::read_workgroup_size(entry, size);
    std::copy(std::begin(size), std::end(size), launch.stated.workgroup_size);
    int64_t local_memory_bytes = 0;
    if (failed(read_local_memory(entry, local_memory_bytes)) ||
        failed(read_launch_attributes(entry, launch.attributes))) {
      return failure();
    }
    launch.stated.local_memory_bytes = static_cast<uint32_t>(local_memory_bytes);
    launches.push_back(std::move(launch));
  }
  return launches;
}

// What exports say beyond what the generated code says itself.
LogicalResult add_stated(Executable& executable, mlir::Region& exports) {
  mlir::FailureOr<std::vector<Launch>> stated = launches_of(exports);
  if (failed(stated)) return failure();
  for (Launch& said : *stated) {
    for (Launch& launch : executable.launches) {
      if (launch.name != said.name) continue;
      launch.stated.local_memory_bytes = std::max(launch.stated.local_memory_bytes, said.stated.local_memory_bytes);
      launch.attributes = std::move(said.attributes);
    }
  }
  return success();
}

// What the user's code is to hold, as the program calls it.
codegen::EntryPoint called_kernel(const EntryPoint& entry) {
  codegen::EntryPoint kernel{entry.name};
  kernel.constant_count = static_cast<unsigned>(entry.layout.getConstants());
  kernel.binding_count = static_cast<unsigned>(entry.layout.getBindings().size());
  kernel.local_memory_bytes = static_cast<unsigned>(entry.local_memory_bytes);
  for (unsigned i = 0; entry.workgroup_size && i < entry.workgroup_size.size() && i < 3; ++i) {
    kernel.workgroup_size[i] = static_cast<unsigned>(llvm::cast<mlir::IntegerAttr>(entry.workgroup_size[i]).getInt());
  }
  return kernel;
}

// The host brings the code. How a GPU launches it replaces how cores do.
LogicalResult expect_registered(Executable& executable, const codegen::Target* kind, mlir::Region& exports) {
  mlir::FailureOr<std::vector<Launch>> launches = launches_of(exports);
  if (failed(launches)) return failure();
  if (executable.registered_launches.empty() || !calls_cores(kind)) {
    executable.registered_launches = std::move(*launches);
  }
  return success();
}

}  // namespace

LogicalResult TargetCode::compile(Executable& executable, mlir::ModuleOp kernels, const Source& source) const {
  const codegen::Target& kind = *codegen::find_target(source.target);
  if (!kernels.getSymName()) kernels.setSymName(executable.name);
  if (failed(number_constant_loads(kernels, source.host))) return failure();
  if (!source.host.keys.empty() && !takes_constants(&kind)) return refuse_constants(executable, source.target);
  if (settings_.sanitize && !kind.facts().checks_accesses) return refuse_sanitize(executable, source.target);
  const std::vector<codegen::Object> files = object_files(source, executable.location);
  mlir::FailureOr<std::vector<codegen::Variant>> variants =
      kind.compile({kernels, source.target, source.beside.empty() ? targets_ : source.beside, files, settings_});
  if (failed(variants)) return failure();
  for (codegen::Variant& variant : *variants) {
    if (settings_.sanitize && settings_.explanation) explain_checks(executable, variant, *settings_.explanation);
    add_variant(executable, std::move(variant), source.host, calls_cores(&kind));
    if (kind.facts().code_says_launches && !calls_cores(&kind)) executable.variants.back().says_launches = true;
  }
  return source.exports && !kind.facts().code_says_launches ? add_stated(executable, *source.exports) : success();
}

LogicalResult TargetCode::embed(Executable& executable, const Source& source) const {
  const codegen::Target* kind = codegen::find_target(source.target);
  if (kind && kind->facts().aligns_tensors) {
    for (EntryPoint* entry : executable.entry_points) entry->aligns_tensors = true;
  }
  if (source.objects.empty()) return expect_registered(executable, kind, *source.exports);
  if (!source.host.keys.empty() && !takes_constants(kind)) return refuse_constants(executable, source.target);
  std::vector<codegen::EntryPoint> kernels;
  for (const EntryPoint* entry : executable.entry_points) kernels.push_back(called_kernel(*entry));
  const std::vector<codegen::Object> files = object_files(source, executable.location);
  const auto constants = static_cast<unsigned>(source.host.keys.size());
  const codegen::EmbedRequest request{executable.name, executable.location, source.target, kernels, constants, files,
                                      settings_};
  mlir::FailureOr<codegen::Variant> variant = kind ? kind->embed(request) : codegen::embed_binary(request);
  if (failed(variant)) return failure();
  add_variant(executable, std::move(*variant), source.host, calls_cores(kind));
  if (kind && kind->facts().code_says_launches) return success();
  mlir::FailureOr<std::vector<Launch>> launches = launches_of(*source.exports);
  if (failed(launches)) return failure();
  executable.launches = std::move(*launches);
  return success();
}

}  // namespace baton::compiler_lite::schedule
