#include "compiler-lite/codegen/user_objects.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/IRObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "mlir/IR/Diagnostics.h"

namespace baton::compiler_lite::codegen {
namespace {

using mlir::failure;
using mlir::FailureOr;

std::string join(llvm::ArrayRef<std::string> items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "'" : ", '") + item + "'";
  return text;
}

mlir::LogicalResult check_architecture(const LoadedObject& object, llvm::Triple::ArchType given,
                                       const ObjectOptions& options) {
  const llvm::Triple::ArchType wanted = options.architecture;
  if (given == wanted) return mlir::success();
  return mlir::emitError(object.location, "The object '")
         << object.path << "' is for " << llvm::Triple::getArchTypeName(given) << "; this executable is for "
         << llvm::Triple::getArchTypeName(wanted) << ".";
}

mlir::LogicalResult tell(const LoadedObject& object, llvm::Error error) {
  return mlir::emitError(object.location, "The object '")
         << object.path << "' can't be read: " << llvm::toString(std::move(error)) << ".";
}

mlir::LogicalResult look_into_bitcode(LoadedObject& object, const ObjectOptions& options) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::getLazyBitcodeModule(*object.bytes, context);
  if (!module) return tell(object, module.takeError());
  const llvm::Triple triple((*module)->getTargetTriple());
  // Bitcode without a triple says nothing about its target; it takes ours.
  if (!triple.getTriple().empty() && mlir::failed(check_architecture(object, triple.getArch(), options))) {
    return failure();
  }
  for (const llvm::GlobalObject& global : (*module)->global_objects()) {
    if (!global.isDeclaration() && !global.hasLocalLinkage()) object.defined.push_back(global.getName().str());
  }
  return mlir::success();
}

mlir::LogicalResult look_into_archive(LoadedObject& object, const llvm::object::Archive& archive,
                                      const ObjectOptions& options) {
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : archive.children(error)) {
    llvm::Expected<std::unique_ptr<llvm::object::Binary>> member = child.getAsBinary();
    if (!member) {
      llvm::consumeError(member.takeError());  // Text files and the like: the linker passes them by too.
      continue;
    }
    const auto* file = llvm::dyn_cast<llvm::object::ObjectFile>(member->get());
    if (!file) continue;
    if (mlir::failed(check_architecture(object, file->getArch(), options))) {
      llvm::consumeError(std::move(error));
      return failure();
    }
    collect_defined(*file, object.defined);
  }
  return error ? tell(object, std::move(error)) : mlir::success();
}

mlir::LogicalResult look_into(LoadedObject& object, const ObjectOptions& options) {
  if (object.is_bitcode) return look_into_bitcode(object, options);
  if (options.look) {
    const FailureOr<bool> known = options.look(object);
    if (mlir::failed(known) || *known) return mlir::success(mlir::succeeded(known));
  }
  llvm::Expected<std::unique_ptr<llvm::object::Binary>> binary = llvm::object::createBinary(*object.bytes);
  if (!binary) return tell(object, binary.takeError());
  if (const auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary->get())) {
    return look_into_archive(object, *archive, options);
  }
  const auto* file = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->get());
  if (!file) {
    return mlir::emitError(object.location, "The object '") << object.path << "' is not an ELF object file.";
  }
  if (mlir::failed(check_architecture(object, file->getArch(), options))) return failure();
  collect_defined(*file, object.defined);
  return mlir::success();
}

}  // namespace

FailureOr<LoadedObject> read_object(const Object& object, const ObjectOptions& options) {
  LoadedObject loaded{object.path, object.location, llvm::StringRef(object.path).ends_with(".bc"), nullptr, {}, false};
  if (!object.data.empty()) {
    loaded.bytes = llvm::MemoryBuffer::getMemBufferCopy({object.data.data(), object.data.size()}, object.path);
    return loaded;
  }
  std::vector<std::string> tried;
  const auto attempt = [&](llvm::StringRef path) {
    tried.push_back(path.str());
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file || llvm::sys::fs::is_directory(path)) return false;
    loaded.path = path.str();
    loaded.bytes = std::move(*file);
    return true;
  };
  if (attempt(object.path)) return loaded;
  if (!llvm::sys::path::is_absolute(object.path)) {
    for (const std::string& folder : options.search_paths) {
      llvm::SmallString<256> path(folder);
      llvm::sys::path::append(path, object.path);
      if (attempt(path)) return loaded;
    }
  }
  return mlir::emitError(object.location, "The object '")
         << object.path << "' was not found; looked for " << join(tried) << ".";
}

void collect_defined(const llvm::object::ObjectFile& file, std::vector<std::string>& defined) {
  for (const llvm::object::SymbolRef& symbol : file.symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    const bool usable = flags && name && (*flags & llvm::object::SymbolRef::SF_Global) &&
                        !(*flags & llvm::object::SymbolRef::SF_Undefined);
    if (usable) defined.push_back(name->str());
    if (!flags) llvm::consumeError(flags.takeError());
    if (!name) llvm::consumeError(name.takeError());
  }
}

FailureOr<std::vector<LoadedObject>> load_objects(llvm::ArrayRef<Object> objects, const ObjectOptions& options) {
  std::vector<LoadedObject> all;
  bool good = true;
  for (const Object& object : objects) {
    FailureOr<LoadedObject> loaded = read_object(object, options);
    if (mlir::failed(loaded) || mlir::failed(look_into(*loaded, options))) {
      good = false;
    } else {
      all.push_back(std::move(*loaded));
    }
  }
  if (!good) return failure();
  return all;
}

std::string describe(llvm::ArrayRef<LoadedObject> objects) {
  if (objects.empty()) return "no object is given";
  std::string text = objects.size() == 1 ? "the object is " : "the objects are ";
  for (size_t i = 0; i < objects.size(); ++i) text += (i == 0 ? "'" : ", '") + objects[i].path + "'";
  return text;
}

}  // namespace baton::compiler_lite::codegen
