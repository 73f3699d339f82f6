#include "compiler-lite/codegen/target.hpp"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace baton::compiler_lite::codegen {
namespace {

using llvm::StringRef;

std::string find_file(StringRef path, const std::vector<std::string>& search_paths) {
  if (llvm::sys::path::is_absolute(path) || llvm::sys::fs::exists(path)) return path.str();
  for (const std::string& folder : search_paths) {
    llvm::SmallString<128> candidate(folder);
    llvm::sys::path::append(candidate, path);
    if (llvm::sys::fs::exists(candidate)) return std::string(candidate.str());
  }
  return {};
}

// "a, b and c"
std::string join_names(llvm::ArrayRef<llvm::StringLiteral> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

mlir::FailureOr<std::vector<char>> read_binary(const Object& object, const std::vector<std::string>& search_paths) {
  if (!object.data.empty()) return object.data;
  const std::string found = find_file(object.path, search_paths);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      found.empty() ? std::make_error_code(std::errc::no_such_file_or_directory)
                    : llvm::MemoryBuffer::getFile(found, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (file) return std::vector<char>((*file)->getBufferStart(), (*file)->getBufferEnd());
  mlir::InFlightDiagnostic error = mlir::emitError(object.location, "The object '");
  error << object.path << "' can't be read (" << file.getError().message() << "); looked for in the working directory";
  for (const std::string& path : search_paths) error << ", '" << path << "'";
  return error << ".";
}

}  // namespace

std::string TargetSettings::option(StringRef name) const {
  const auto found = options.find(name.str());
  return found == options.end() ? std::string() : found->second;
}

bool Target::takes(hal::ExecutableTargetAttr target) const {
  if (target.getBackend().getValue() != facts_.backends.front().name) return false;
  return facts_.formats.empty() || llvm::is_contained(facts_.formats, target.getFormat().getValue());
}

hal::ExecutableTargetAttr Target::attribute(mlir::MLIRContext* context, StringRef format,
                                            mlir::DictionaryAttr configuration) const {
  return hal::ExecutableTargetAttr::get(context, mlir::StringAttr::get(context, facts_.backends.front().name),
                                        mlir::StringAttr::get(context, format), configuration);
}

mlir::FailureOr<Variant> Target::embed(const EmbedRequest& request) const { return embed_binary(request); }

mlir::FailureOr<std::string> Target::show(const CompileRequest& request, StringRef stage) const {
  return mlir::emitError(request.location(), "There is no stage '")
         << stage << "' on the way to code for " << facts_.backends.front().name << ".";
}

mlir::FailureOr<Variant> embed_binary(const EmbedRequest& request) {
  if (request.objects.size() != 1) {
    return mlir::emitError(request.location, "The executable '")
           << request.name << "' has " << request.objects.size() << " objects for " << request.target
           << "; one that isn't compiled from an inner module is exactly one binary.";
  }
  mlir::FailureOr<std::vector<char>> bytes = read_binary(request.objects.front(), request.settings.object_search_paths);
  if (mlir::failed(bytes)) return mlir::failure();
  return Variant{request.target.getFormat().str(), std::move(*bytes)};
}

const Target* find_target(hal::ExecutableTargetAttr target) {
  for (const Target* each : all_targets()) {
    if (each->takes(target)) return each;
  }
  return nullptr;
}

std::string generated_targets() {
  std::string text;
  const llvm::ArrayRef<const Target*> all = all_targets();
  for (const Target* each : all) {
    if (!text.empty()) text += each == all.back() ? ", and for " : ", for ";
    text += each->facts().backends.front().name;
    if (!each->facts().formats.empty()) text += " with the formats " + join_names(each->facts().formats);
  }
  return text;
}

}  // namespace baton::compiler_lite::codegen
