#include "compiler-lite/codegen/user_objects.hpp"

#include "base/text.hpp"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
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

bool is_bitcode(llvm::MemoryBufferRef bytes) {
  const llvm::StringRef buffer = bytes.getBuffer();
  return llvm::isBitcode(buffer.bytes_begin(), buffer.bytes_end());
}

void note(LoadedObject& object, llvm::StringRef name, bool is_local, bool is_function) {
  if (is_function && !is_local) {
    object.defined.push_back(name.str());
  } else {
    object.useless.push_back({name.str(), is_function ? "static" : "a variable"});
  }
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
  for (const llvm::GlobalValue& global : (*module)->global_values()) {
    if (global.isDeclaration()) continue;
    const auto* function = llvm::dyn_cast_or_null<llvm::Function>(global.getAliaseeObject());
    note(object, global.getName(), global.hasLocalLinkage(), function || llvm::isa<llvm::GlobalIFunc>(global));
  }
  return mlir::success();
}

mlir::LogicalResult look_into_file(LoadedObject& object, const llvm::object::ObjectFile& file,
                                   const ObjectOptions& options) {
  if (mlir::failed(check_architecture(object, file.getArch(), options))) return failure();
  if (llvm::Error error = collect_defined(file, object)) return tell(object, std::move(error));
  const auto is_mark = [](const UselessName& each) { return each.name == "__gnu_lto_slim"; };
  if (llvm::none_of(object.useless, is_mark)) return mlir::success();
  return mlir::emitError(object.location, "The object '")
         << object.path
         << "' holds no machine code, only what GCC needs to make some; compile it without -flto, or with "
         << "-ffat-lto-objects.";
}

mlir::LogicalResult look_into_archive(LoadedObject& object, const llvm::object::Archive& archive,
                                      const ObjectOptions& options, std::vector<LoadedObject>& bitcode) {
  if (archive.isThin()) {
    return mlir::emitError(object.location, "The object '")
           << object.path << "' is a thin archive, which names files and holds none; one that is made without T does.";
  }
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : archive.children(error)) {
    if (llvm::Expected<llvm::MemoryBufferRef> bytes = child.getMemoryBufferRef(); !bytes) {
      llvm::consumeError(bytes.takeError());
    } else if (is_bitcode(*bytes)) {
      LoadedObject member{object.path + "(" + bytes->getBufferIdentifier().str() + ")", object.location, true};
      member.bytes = llvm::MemoryBuffer::getMemBufferCopy(bytes->getBuffer(), member.path);
      if (mlir::failed(look_into_bitcode(member, options))) {
        llvm::consumeError(std::move(error));
        return failure();
      }
      bitcode.push_back(std::move(member));
      continue;
    }
    llvm::Expected<std::unique_ptr<llvm::object::Binary>> member = child.getAsBinary();
    if (!member) {
      llvm::consumeError(member.takeError());  // Text files and the like: the linker passes them by too.
      continue;
    }
    const auto* file = llvm::dyn_cast<llvm::object::ObjectFile>(member->get());
    if (file && mlir::failed(look_into_file(object, *file, options))) {
      llvm::consumeError(std::move(error));
      return failure();
    }
  }
  return error ? tell(object, std::move(error)) : mlir::success();
}

// What stands in it as objects of their own, `bitcode` gets.
mlir::LogicalResult look_into(LoadedObject& object, const ObjectOptions& options, std::vector<LoadedObject>& bitcode) {
  if (object.is_bitcode) return look_into_bitcode(object, options);
  if (options.look) {
    const FailureOr<bool> known = options.look(object);
    if (mlir::failed(known) || *known) return mlir::success(mlir::succeeded(known));
  }
  llvm::Expected<std::unique_ptr<llvm::object::Binary>> binary = llvm::object::createBinary(*object.bytes);
  if (!binary) return tell(object, binary.takeError());
  if (const auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary->get())) {
    return look_into_archive(object, *archive, options, bitcode);
  }
  const auto* file = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->get());
  if (!file) {
    return mlir::emitError(object.location, "The object '") << object.path << "' is not an ELF object file.";
  }
  return look_into_file(object, *file, options);
}

// "_Z3mixff" is called "mix(float, float)" in C++.
bool is_overload_of(llvm::StringRef name, llvm::StringRef symbol) {
  return name.starts_with("_Z") && llvm::StringRef(llvm::demangle(name)).starts_with((symbol + "(").str());
}

}  // namespace

FailureOr<LoadedObject> read_object(const Object& object, const ObjectOptions& options) {
  LoadedObject loaded{object.path, object.location, llvm::StringRef(object.path).ends_with(".bc")};
  if (!object.data.empty()) {
    loaded.bytes = llvm::MemoryBuffer::getMemBufferCopy({object.data.data(), object.data.size()}, object.path);
    loaded.is_bitcode = loaded.is_bitcode || is_bitcode(*loaded.bytes);
    return loaded;
  }
  std::vector<std::string> tried;
  const auto attempt = [&](llvm::StringRef path) {
    tried.push_back(path.str());
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file || llvm::sys::fs::is_directory(path)) return false;
    loaded.path = path.str();
    loaded.bytes = std::move(*file);
    loaded.is_bitcode = loaded.is_bitcode || is_bitcode(*loaded.bytes);
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

llvm::Error collect_defined(const llvm::object::ObjectFile& file, LoadedObject& object) {
  using llvm::object::SymbolRef;
  for (const SymbolRef& symbol : file.symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) return flags.takeError();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) return name.takeError();
    llvm::Expected<SymbolRef::Type> type = symbol.getType();
    if (!type) return type.takeError();
    if (name->empty() || (*flags & SymbolRef::SF_Undefined)) continue;
    // What an assembler wrote may be of no type.
    const bool is_data = *type == SymbolRef::ST_Data || *type == SymbolRef::ST_Debug || *type == SymbolRef::ST_File;
    const bool is_variable = is_data || (*flags & SymbolRef::SF_Common) != 0;
    note(object, *name, (*flags & SymbolRef::SF_Global) == 0, !is_variable);
  }
  return llvm::Error::success();
}

FailureOr<std::vector<LoadedObject>> load_objects(llvm::ArrayRef<Object> objects, const ObjectOptions& options) {
  std::vector<LoadedObject> all;
  bool good = true;
  for (const Object& object : objects) {
    FailureOr<LoadedObject> loaded = read_object(object, options);
    std::vector<LoadedObject> bitcode;
    if (mlir::failed(loaded) || mlir::failed(look_into(*loaded, options, bitcode))) {
      good = false;
      continue;
    }
    all.push_back(std::move(*loaded));
    std::move(bitcode.begin(), bitcode.end(), std::back_inserter(all));
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

std::string describe_without(llvm::ArrayRef<LoadedObject> objects, llvm::StringRef symbol) {
  const std::string text = describe(objects);
  std::vector<std::string_view> names;
  for (const LoadedObject& object : objects) {
    for (const UselessName& each : object.useless) {
      if (each.name == symbol || is_overload_of(each.name, symbol))
        return text + ", where it is " + each.reason.str() + ".";
    }
    for (const std::string& name : object.defined) {
      if (is_overload_of(name, symbol)) return text + ", where it is one of C++; extern \"C\" gives it this name.";
    }
    names.insert(names.end(), object.defined.begin(), object.defined.end());
  }
  const std::string near = nearest_names({symbol.data(), symbol.size()}, names);
  return near.empty() ? text + "." : text + "; " + near;
}

}  // namespace baton::compiler_lite::codegen
