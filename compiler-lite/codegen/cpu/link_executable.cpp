#include "compiler-lite/codegen/cpu/link_executable.hpp"

#include "compiler-lite/codegen/cpu/levels.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/llvm/builtins.hpp"

namespace baton::compiler_lite::codegen::cpu {

mlir::FailureOr<Variant> link_executable(const ExecutableName& executable, std::vector<LinkInput> code,
                                         llvm::ArrayRef<LoadedObject> objects) {
  for (const LoadedObject& object : objects) {
    if (!object.is_bitcode) code.push_back({object.path, object.bytes->getBuffer()});
  }
  code.push_back({"builtins", call_object(target_info(executable.architecture, Level::kBaseline).triple)});
  LinkResult linked = link_elf(code, layout::kQueryName);
  if (linked.linked) return Variant{format_name(executable.architecture), std::move(linked.bytes)};
  for (const std::string& symbol : linked.undefined) {
    mlir::emitError(executable.location, "The executable '")
        << executable.name << "' needs '" << symbol << "', which no object defines; " << describe(objects)
        << ", and there is no C library in an executable. The linker says: " << linked.messages;
  }
  if (linked.undefined.empty()) {
    mlir::emitError(executable.location, "The executable '")
        << executable.name << "' can't be linked: " << linked.messages;
  }
  return mlir::failure();
}

std::vector<Bitcode> bitcode_of(llvm::ArrayRef<LoadedObject> objects) {
  std::vector<Bitcode> bitcode;
  for (const LoadedObject& object : objects) {
    if (object.is_bitcode) bitcode.push_back({object.path, object.bytes->getBuffer()});
  }
  return bitcode;
}

}  // namespace baton::compiler_lite::codegen::cpu
