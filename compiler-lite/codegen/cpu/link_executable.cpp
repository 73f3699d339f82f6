#include "compiler-lite/codegen/cpu/link_executable.hpp"

#include "compiler-lite/codegen/cpu/levels.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/llvm/builtins.hpp"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"

namespace baton::compiler_lite::codegen::cpu {

mlir::FailureOr<Variant> link_executable(const ExecutableName& executable, std::vector<LinkInput> code,
                                         llvm::ArrayRef<LoadedObject> objects) {
  for (const LoadedObject& object : objects) {
    if (!object.is_bitcode) code.push_back({object.path, object.bytes->getBuffer(), true});
  }
  const TargetInfo target = target_info(executable.architecture, Level::kBaseline);
  code.push_back({"builtins", call_object(target.triple)});
  if (!objects.empty()) code.push_back({"math", c_math_object(target.triple)});
  LinkResult linked = link_elf(code, layout::kQueryName);
  if (linked.linked) {
    const llvm::StringRef reason = why_not_loaded({linked.bytes.data(), linked.bytes.size()});
    if (reason.empty()) return Variant{format_name(executable.architecture), std::move(linked.bytes)};
    return mlir::emitError(executable.location, "The executable '")
           << executable.name << "' has " << reason << "; " << describe(objects) << ".";
  }
  for (const std::string& symbol : linked.undefined) {
    mlir::emitError(executable.location, "The executable '")
        << executable.name << "' needs '" << symbol << "', which no object defines; " << describe(objects)
        << ", and there is no C library in an executable but functions of math.h. The linker says: " << linked.messages;
  }
  if (linked.undefined.empty()) {
    mlir::emitError(executable.location, "The executable '")
        << executable.name << "' can't be linked: " << linked.messages;
  }
  return mlir::failure();
}

llvm::StringRef why_not_loaded(llvm::StringRef elf) {
  llvm::Expected<llvm::object::ELF64LEFile> file = llvm::object::ELF64LEFile::create(elf);
  if (!file) return llvm::consumeError(file.takeError()), "";
  if (auto segments = file->program_headers()) {
    for (const auto& segment : *segments) {
      if (segment.p_type == llvm::ELF::PT_TLS) return "thread-local variables, which kernels cannot have";
    }
  } else {
    llvm::consumeError(segments.takeError());
  }
  auto entries = file->dynamicEntries();
  if (!entries) return llvm::consumeError(entries.takeError()), "";
  for (const auto& entry : *entries) {
    const auto tag = static_cast<uint64_t>(entry.d_tag);
    const bool runs_code = tag == llvm::ELF::DT_INIT || tag == llvm::ELF::DT_INIT_ARRAY || tag == llvm::ELF::DT_FINI ||
                           tag == llvm::ELF::DT_FINI_ARRAY || tag == llvm::ELF::DT_PREINIT_ARRAY;
    if (runs_code && entry.d_un.d_val != 0) return "initializers, which nobody runs (static objects of C++?)";
  }
  return "";
}

std::vector<Bitcode> bitcode_of(llvm::ArrayRef<LoadedObject> objects) {
  std::vector<Bitcode> bitcode;
  for (const LoadedObject& object : objects) {
    if (object.is_bitcode) bitcode.push_back({object.path, object.bytes->getBuffer()});
  }
  return bitcode;
}

}  // namespace baton::compiler_lite::codegen::cpu
