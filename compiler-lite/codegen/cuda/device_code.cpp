#include "compiler-lite/codegen/cuda/device_code.hpp"

#include <span>

#include "compiler-lite/codegen/cuda/ptx_file.hpp"
#include "compiler-lite/codegen/imports.hpp"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "mlir/IR/Diagnostics.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

using llvm::StringRef;
using mlir::FailureOr;

FailureOr<bool> look_into_ptx(LoadedObject& object) {
  PtxFile file;
  const std::string problem = file.read(object.bytes->getBuffer());
  if (!problem.empty())
    return mlir::emitError(object.location, "The object '") << object.path << "' " << problem << ".";
  for (const PtxStatement& each : file.statements) {
    const bool is_function = each.kind == PtxStatement::Kind::kFunction && each.has_body;
    if (is_function && (each.linkage == PtxLinkage::kVisible || each.linkage == PtxLinkage::kWeak)) {
      object.defined.push_back(each.name);
    }
  }
  return true;
}

bool is_elf(StringRef bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

bool is_cubin(StringRef bytes) {
  constexpr unsigned char kMachine = llvm::ELF::EM_CUDA;
  return is_elf(bytes) && bytes.size() > 19 && static_cast<unsigned char>(bytes[18]) == kMachine && bytes[19] == 0;
}

// Archives, fatbins, LTO-IR, and the host's objects that hold device code.
bool is_container(StringRef bytes) {
  return is_elf(bytes) || bytes.starts_with("!<arch>\n") || bytes.starts_with("\x50\xed\x55\xba") ||
         bytes.starts_with("\xed\x43\x4e\x7f");
}

// Whether all that the file says of itself lies inside of it; linkers don't ask.
llvm::Error check_whole(StringRef bytes) {
  llvm::Expected<llvm::object::ELF64LEFile> file = llvm::object::ELF64LEFile::create(bytes);
  if (!file) return file.takeError();
  auto sections = file->sections();
  if (!sections) return sections.takeError();
  for (const auto& section : *sections) {
    auto contents = file->getSectionContents(section);
    if (!contents) return contents.takeError();
  }
  return llvm::Error::success();
}

FailureOr<bool> look_into_cubin(LoadedObject& object) {
  llvm::Error problem = check_whole(object.bytes->getBuffer());
  if (!problem) {
    auto binary = llvm::object::createBinary(*object.bytes);
    if (!binary) {
      problem = binary.takeError();
    } else if (const auto* file = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->get())) {
      problem = collect_defined(*file, object);
    }
  }
  if (!problem) return true;
  return mlir::emitError(object.location, "The object '")
         << object.path << "' can't be read: " << llvm::toString(std::move(problem)) << ".";
}

// As functions of C take it: a memref is a pointer, or all fields of its descriptor.
void add_words(mlir::Type type, bool bare_pointers, llvm::SmallVectorImpl<llvm::StringRef>& words) {
  if (const auto memref = llvm::dyn_cast<mlir::MemRefType>(type)) {
    words.append(bare_pointers ? 1 : 3 + 2 * static_cast<size_t>(memref.getRank()), ".b64");
  } else {
    words.push_back(type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32 ? ".b32" : ".b64");
  }
}

std::string parameters_of(mlir::TypeRange types, bool bare_pointers) {
  llvm::SmallVector<StringRef> words;
  for (const mlir::Type type : types) add_words(type, bare_pointers, words);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? ".param " : ", .param ") + words[i].str() + " p" + std::to_string(i);
  }
  return "(" + text + ")";
}

// Code that wants `function` and nothing else.
std::string code_that_wants(mlir::func::FuncOp function, StringRef arch) {
  const std::string symbol = import_symbol_of(function);
  const bool bare = has_bare_pointers(function);
  const std::string result = function.getNumResults() == 0 ? "" : parameters_of(function.getResultTypes(), bare) + " ";
  return (".version 6.5\n.target " + arch + "\n.address_size 64\n.extern .func " + result + symbol +
          parameters_of(function.getArgumentTypes(), bare) + ";\n.visible .entry wants(.param .u64 wants_0) {\n" +
          ".reg .u64 %a, %b;\nld.param.u64 %a, [wants_0];\nmov.u64 %b, " + symbol +
          ";\nst.global.u64 [%a], %b;\nret;\n}\n")
      .str();
}

}  // namespace

bool is_ptx(const LoadedObject& object) { return is_ptx(object.bytes->getBuffer()); }

FailureOr<bool> look_into_device_code(LoadedObject& object) {
  const StringRef bytes = object.bytes->getBuffer();
  if (is_ptx(bytes)) return look_into_ptx(object);
  if (is_cubin(bytes)) return look_into_cubin(object);
  object.is_opaque = is_container(bytes);
  if (object.is_opaque) return true;
  return mlir::emitError(object.location, "The object '")
         << object.path << "' is no device code: neither bitcode (.bc) nor PTX, nor a cubin, object, archive, fatbin "
         << "or LTO-IR.";
}

void find_optional_functions(std::vector<LoadedObject>& objects, llvm::ArrayRef<mlir::func::FuncOp> functions,
                             const LinkFor& how) {
  for (LoadedObject& object : objects) {
    if (!object.is_opaque || !how.linker) continue;
    for (const mlir::func::FuncOp& function : functions) {
      const std::string wants = code_that_wants(function, how.arch);
      const DeviceCode parts[] = {{"wants.ptx", wants}, {object.path, object.bytes->getBuffer()}};
      std::string ignored;
      if (!how.linker(how.arch, std::span(parts), ignored).empty())
        object.defined.push_back(import_symbol_of(function));
    }
  }
}

}  // namespace baton::compiler_lite::codegen::cuda
